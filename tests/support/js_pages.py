"""Pages without text before their scripts run, as frameworks and hand-written sites build them."""

# ruff: noqa: E501 - pages are written as they are served

NAV = "<header><nav><a href=/>Home</a> <a href=/docs>Docs</a> <a href=/blog>Blog</a> <a href=/about>About</a></nav></header>"
FOOTER = "<footer><p>© 2026 Example Ltd. All rights reserved.</p><a href=/terms>Terms</a> <a href=/privacy>Privacy</a></footer>"


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
}
