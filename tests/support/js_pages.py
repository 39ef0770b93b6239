"""Pages without text before their scripts run, as frameworks and hand-written sites build them."""

# ruff: noqa: E501 - pages are written as they are served

NAV = "<header><nav><a href=/>Home</a> <a href=/docs>Docs</a> <a href=/blog>Blog</a> <a href=/about>About</a></nav></header>"
FOOTER = "<footer><p>© 2026 Example Ltd. All rights reserved.</p><a href=/terms>Terms</a> <a href=/privacy>Privacy</a></footer>"
LINKS = "".join(
    f"<a href=/{word}>{word.title()}</a> "
    for word in [
        "products",
        "pricing",
        "customers",
        "careers",
        "press",
        "contact",
        "partners",
        "events",
        "community",
        "support",
    ]
)
COMPANY = "Example Ltd is registered in England under number 1234567. Our office at 12 Long Street in London is open on weekdays between nine and five. "


def shell(body: str, head: str = "") -> str:
    return f"<!doctype html><html lang=en><head><meta charset=utf-8><title>Example</title>{head}</head><body>{body}</body></html>"


JS_PAGES: dict[str, str] = {
    "create-react-app": shell(
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id='root'></div>",
        "<script defer src='/static/js/main.4f2c1a9b.js'></script>",
    ),
    "vite react": shell(
        '<div id="root"></div>',
        '<script type="module" crossorigin src="/assets/index-BdQ7jKf2.js"></script>',
    ),
    "vue cli": shell(
        "<noscript><strong>We're sorry but app doesn't work properly without JavaScript enabled.</strong></noscript>"
        '<div id="app"></div><script src="/js/chunk-vendors.0a1b2c3d.js"></script><script src="/js/app.9f8e7d6c.js"></script>'
    ),
    "vue with a cloak": shell(
        '<div id="app" v-cloak><h1>{{ title }}</h1><p v-for="item in items">{{ item.text }}</p></div>'
        "<script src='https://unpkg.com/vue@3'></script><script>Vue.createApp({}).mount('#app')</script>"
    ),
    "angular": shell(
        "<app-root></app-root><script src='runtime.1a2b3c4d5e6f.js' type='module'></script>"
        "<script src='main.a1b2c3d4e5f6.js' type='module'></script>"
    ),
    "angularjs": shell(
        "<div ng-app='shop'><div ng-view></div><li ng-repeat='x in xs'>{{x.name}}</li></div><script src='/angular.min.js'></script>"
    ),
    "sveltekit without server rendering": shell(
        '<div style="display: contents"><script>{ const element = document.currentScript.parentElement;'
        'Promise.all([import("/_app/immutable/entry/start.Cx1.js"), import("/_app/immutable/entry/app.Dk2.js")])'
        ".then(([kit, app]) => { kit.start(app, element); }); }</script></div>"
    ),
    "next without server rendering": shell(
        '<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{}},"page":"/"}</script>',
        '<script src="/_next/static/chunks/main-0123456789abcdef.js" defer></script>',
    ),
    "next app router bailing out": shell(
        '<!--$!--><template data-dgst="BAILOUT_TO_CLIENT_SIDE_RENDERING"></template><!--/$-->'
        '<script src="/_next/static/chunks/webpack-1.js" async></script><script>self.__next_f.push([1,"x"])</script>'
    ),
    "nuxt spa": shell(
        '<div id="__nuxt"></div><script>window.__NUXT__={config:{}}</script><script src="/_nuxt/7a8b9c.js" defer></script>'
    ),
    "gatsby": shell('<div id="___gatsby"></div><script src="/app-5f4e3d2c1b.js" async></script>'),
    "ember": shell(
        "<script src='/assets/vendor-3c1f.js'></script><script src='/assets/ember-app-9d2e.js'></script>"
    ),
    "blazor": shell(
        "<div id=app>Loading...</div><script src='_framework/blazor.webassembly.js'></script>"
    ),
    "flutter": shell("<script src='flutter_bootstrap.js' async></script>"),
    "polymer element": shell("<my-app></my-app><script type=module src='/src/my-app.js'></script>"),
    "ionic": shell("<ion-app></ion-app><script src='/build/main.js'></script>"),
    "data fetched by a script": shell(
        "<h1>News</h1><ul id='list'></ul><script>fetch('/api/news').then(r=>r.json()).then(d=>{list.innerHTML=d.map(x=>`<li>${x}</li>`).join('')})</script>"
    ),
    "data through xhr": shell(
        "<div id=content></div><script>var x=new XMLHttpRequest();x.onload=function(){document.getElementById('content').innerHTML=x.response};x.open('GET','/part.html');x.send()</script>"
    ),
    "data through jquery": shell(
        "<div class='container'></div><script src='/jquery.min.js'></script><script>$(function(){$.getJSON('/api',function(d){$('.container').html(d.html)})})</script>"
    ),
    "spinner": shell(
        "<div class='spinner' role='progressbar'></div><div id='page'></div><script src='/bundle.js'></script>"
    ),
    "loading text": shell("<p>Loading…</p><script src='/app.js'></script>"),
    "skeleton between menu and footer": shell(
        f"{NAV}<main><div class='skeleton'></div><div class='skeleton'></div></main>{FOOTER}<script type=module src='/app.js'></script>"
    ),
    "empty mount between menu and footer": shell(
        f"{NAV}<main id='main-content'></main>{FOOTER}<script src='/widget.js'></script>"
    ),
    "document.write": shell(
        "<script>document.write('<p>'+['a','b'].map(x=>x.repeat(300)).join('</p><p>'))</script>"
    ),
    "script navigation": shell("<script>location.replace('/real')</script>"),
    "state in the page, drawn by a script": shell(
        "<div id=app></div><script>window.__INITIAL_STATE__={'posts':["
        + "{'t':'hello'}," * 200
        + "]}</script><script src='/client.js'></script>"
    ),
    "alpine": shell(
        "<div x-data='{posts: []}' x-init=\"posts = await (await fetch('/p')).json()\"><template x-for='p in posts'><p x-text='p'></p></template></div><script defer src='/alpine.js'></script>"
    ),
    "htmx loading its content": shell(
        "<div hx-get='/part' hx-trigger='load'></div><script src='/htmx.min.js'></script>"
    ),
    "web components with a shadow tree": shell(
        "<article-page slug='x'></article-page><script>customElements.define('article-page', class extends HTMLElement{connectedCallback(){this.attachShadow({mode:'open'}).innerHTML='<p>text</p>'}})</script>"
    ),
    "asks for scripts in plain text": shell(
        "<p>This site requires JavaScript. Please turn it on.</p><script src='/a.js'></script>"
    ),
    "german notice": shell(
        "<p>Bitte JavaScript aktivieren, um diese Seite zu sehen.</p><script src='/a.js'></script>"
    ),
    "cloudflare challenge": shell(
        "<h1>example.com</h1><p>Checking if the site connection is secure</p><script>window._cf_chl_opt={cvId:'3'}</script>",
        "<title>Just a moment...</title>",
    ),
    "anubis challenge": shell(
        "<h1>Making sure you're not a bot!</h1><script type=module src='/.within.website/x/cmd/anubis/static/js/main.mjs'></script>"
    ),
    "react with a splash screen": shell(
        "<div id='root'><div class='splash'><img src='/logo.svg' alt='Example'><p>Please wait</p></div></div>"
        "<script src='/build/client.js'></script>"
    ),
    "preact from a module in the page": shell(
        "<main></main><script type=module>import{h,render}from'/preact.mjs';import App from'/app.mjs';render(h(App),document.querySelector('main'))</script>"
    ),
    "solid": shell("<div id=root></div><script src='/src/index.jsx' type=module></script>"),
    "qwik without its content": shell(
        "<div q:container=paused q:render=static></div><script>window.qwikevents=['load']</script><script src='/build/q-1a2b.js' type=module></script>"
    ),
    "elm": shell(
        "<div id='elm-node'></div><script src='/elm.js'></script><script>Elm.Main.init({node:document.getElementById('elm-node')})</script>"
    ),
    "lit elements": shell(
        "<site-header></site-header><blog-post slug='bees'></blog-post><script type=module src='/components.js'></script>"
    ),
    "custom elements with their template in the page": shell(
        "<template id=t><article><slot></slot></article></template><user-card user=7></user-card>"
        "<script>customElements.define('user-card',class extends HTMLElement{async connectedCallback(){const u=await(await fetch('/u/7')).json();this.textContent=u.bio}})</script>"
    ),
    "docusaurus without server rendering": shell(
        "<div id=__docusaurus></div><script src='/assets/js/runtime~main.1a2b3c4d.js' defer></script>"
    ),
    "gatsby with a focus wrapper": shell(
        "<div id=___gatsby><div style='outline:none' tabindex=-1 id=gatsby-focus-wrapper></div></div><script src='/webpack-runtime-7d8e.js' async></script>"
    ),
    "vitepress": shell(
        "<div id=app></div><script type=module src='/assets/app.Cq1w2e3r.js'></script>"
    ),
    "remix spa mode": shell(
        "<div class='hydrate-fallback'><p>Loading…</p></div><script>window.__remixContext={isSpaMode:true}</script><script type=module src='/assets/entry.client-Ax.js'></script>"
    ),
    "angular between server-side menus": shell(
        f"{NAV}<main><my-shop-root></my-shop-root></main>{FOOTER}<script src='polyfills.js' type=module></script><script src='main.js' type=module></script>"
    ),
    "knockout": shell(
        "<h1>Orders</h1><ul data-bind='foreach: orders'><li data-bind='text: name'></li></ul><script src='/knockout.js'></script><script src='/orders.js'></script>"
    ),
    "backbone": shell(
        "<section id=todoapp></section><script type='text/template' id=item><li><%= title %></li></script><script src='/backbone.js'></script><script src='/todos.js'></script>"
    ),
    "handlebars template in the page": shell(
        "<div class=entries></div><script id=entry type='text/x-handlebars-template'><h2>{{title}}</h2><p>{{body}}</p></script>"
        "<script src='/handlebars.js'></script><script>$.getJSON('/e.json',d=>{document.querySelector('.entries').innerHTML=Handlebars.compile(entry.innerHTML)(d)})</script>"
    ),
    "petite-vue with an introduction": shell(
        "<h1>Departures</h1><p>Live departures of the central station.</p><div v-scope @vue:mounted='load'><p v-for='t in trains'>{{ t.line }}</p></div><script src='/petite-vue.js' defer init></script>"
    ),
    "alpine list beside a menu": shell(
        f"{NAV}<section x-data='board'><template x-for='n in news'><article x-text='n'></article></template></section>{FOOTER}<script defer src='/alpine.js'></script>"
    ),
    "htmx revealed": shell(
        f"{NAV}<div hx-get='/articles' hx-trigger='revealed' hx-swap='outerHTML'></div>{FOOTER}<script src='/htmx.js'></script>"
    ),
    "turbo frame": shell(
        f"{NAV}<turbo-frame id=messages src='/messages'></turbo-frame>{FOOTER}<script type=module src='/turbo.js'></script>"
    ),
    "table filled from an api": shell(
        "<h1>Exchange rates</h1><p>Updated every minute from the central bank.</p><table><thead><tr><th>Currency</th><th>Rate</th></tr></thead><tbody id=rates></tbody></table>"
        "<script>async function load(){const r=await fetch('/rates.json');for(const x of await r.json())document.getElementById('rates').insertRow().textContent=x}load()</script>"
    ),
    "text inserted beside a heading": shell(
        "<h1 id=title>Weather</h1><div class=forecast></div><script>fetch('/f').then(r=>r.text()).then(t=>document.querySelector('.forecast').insertAdjacentHTML('beforeend',t))</script>"
    ),
    "elements built by hand": shell(
        "<div id=wrap></div><script>for(const t of DATA){const p=document.createElement('p');p.append(t);document.getElementById('wrap').appendChild(p)}</script>"
    ),
    "a whole body written by a function": shell(
        "<script src='/data.js'></script><script>document.body.innerHTML=DATA.map(d=>'<p>'+d+'</p>').join('')</script>"
    ),
    "jsonp widget": shell(
        "<h2>Latest posts</h2><div id='feed-box'></div><script>function show(d){document.getElementById('feed-box').innerHTML=d.html}</script><script src='https://api.example.com/posts?callback=show'></script>"
    ),
    "data read from a script element": shell(
        "<div id=story></div><script type='application/json' id=d>{\"text\":\"...\"}</script><script>document.querySelector('#story').textContent=JSON.parse(document.querySelector('#d').textContent).text</script>"
    ),
    "websocket": shell(
        "<h1>Live ticker</h1><ol id=ticker></ol><script>new WebSocket('wss://example.com/t').onmessage=e=>{ticker.innerHTML+='<li>'+e.data}</script>"
    ),
    "markdown drawn in the browser": shell(
        "<div id=doc data-src='/README.md'></div><script src='/marked.js'></script><script>fetch('/README.md').then(r=>r.text()).then(t=>{doc.innerHTML=marked.parse(t)})</script>"
    ),
    "docsify": shell(
        "<div id=app>Please wait...</div><script>window.$docsify={name:'x'}</script><script src='/docsify.min.js'></script>"
    ),
    "swagger ui": shell(
        "<div id='swagger-ui'></div><script src='/swagger-ui-bundle.js'></script><script>SwaggerUIBundle({url:'/openapi.json',dom_id:'#swagger-ui'})</script>"
    ),
    "redoc": shell(
        "<redoc spec-url='/openapi.json'></redoc><script src='/redoc.standalone.js'></script>"
    ),
    "discourse": shell(
        "<section id=d-splash><div class=preloader-image></div></section><discourse-assets></discourse-assets><div id=main></div><script defer src='/assets/discourse.js'></script>"
    ),
    "gwt": shell(
        "<iframe src='javascript:void(0)' id='__gwt_historyFrame' style='width:0'></iframe><script src='/app/app.nocache.js'></script>"
    ),
    "dart and canvas": shell("<canvas id=stage></canvas><script src='main.dart.js'></script>"),
    "yew": shell(
        "<script type=module>import init from'/app-5f6a.js';init('/app-5f6a_bg.wasm')</script>"
    ),
    "menu and footer in plain elements": shell(
        f"<div class=topbar>{LINKS}</div><div id=weather></div><div class=footer><p>{COMPANY}</p><p>{COMPANY}</p></div><script src='/js/weather.js'></script>"
    ),
    "long menu and footer around a mount": shell(
        f"<header><nav>{LINKS}</nav></header><div id=root></div><footer><p>{COMPANY}</p><p>{COMPANY}</p><p>{COMPANY}</p><p>{COMPANY}</p></footer><script type=module src='/a.js'></script>"
    ),
    "footer without a mark around a mount": shell(
        f"<div>{LINKS}</div><div id=app></div><div><p>{COMPANY}</p><p>{COMPANY}</p><p>{COMPANY}</p></div><script src='/dist/build.js'></script>"
    ),
    "long menu around a list": shell(
        f"<nav>{LINKS}</nav><h1>Jobs</h1><ul class=jobs></ul><footer><p>{COMPANY}</p></footer><script src='/jobs.js'></script>"
    ),
    "cookie notice over an app": shell(
        f"<div id=root></div><div class=cookie-banner><p>We use cookies to improve this site. {COMPANY}</p><button>Accept</button></div><script src='/static/js/main.0a1b2c3d.js'></script>"
    ),
    "notice in noscript between menu and footer": shell(
        f"{NAV}<noscript><p>JavaScript is required to view this page.</p></noscript><div class=stage></div>{FOOTER}<script src='/x.js'></script>"
    ),
    "french notice": shell(
        "<p>Veuillez activer JavaScript pour afficher cette page.</p><script src='/a.js'></script>"
    ),
    "spinner in a picture": shell(
        "<div class=center><img src='/spinner.gif' alt=''></div><script src='/boot.js'></script>"
    ),
    "busy region": shell(
        f"{NAV}<div aria-busy=true class=stage></div>{FOOTER}<script src='/boot.js'></script>"
    ),
    "redirect by a timer": shell(
        "<p>Redirecting…</p><script>setTimeout(()=>{window.location.href='/home'},10)</script>"
    ),
}
