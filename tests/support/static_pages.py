"""Short pages that have all their text in the HTML, with the scripts that ordinary sites add."""

# ruff: noqa: E501 - pages are written as they are served

from tests.support.js_pages import FOOTER, LINKS, NAV, shell

ANALYTICS = (
    "<script async src='https://www.googletagmanager.com/gtag/js?id=G-1'></script>"
    "<script>window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments)}gtag('js',new Date());gtag('config','G-1')</script>"
    "<script>(function(w,d,s,l,i){w[l]=w[l]||[];var f=d.getElementsByTagName(s)[0],j=d.createElement(s);j.async=true;"
    "j.src='https://www.googletagmanager.com/gtm.js?id='+i;f.parentNode.insertBefore(j,f)})(window,document,'script','dataLayer','GTM-1')</script>"
)
OWN = "<script src='/assets/site.js' defer></script>"
HYDRATION = (
    '<script id="__NEXT_DATA__" type="application/json">{"props":{}}</script>'
    "<script src='/_next/static/chunks/main-0123456789abcdef.js' defer></script>"
)
PARAGRAPH = "<p>Bees see ultraviolet light. A scout that has found flowers dances for the others, and the dance says how far they must fly and where.</p>"
PICTURES = "".join(
    f"<figure><img src='/{n}.jpg' alt=''><figcaption>Hive {n}</figcaption></figure>"
    for n in range(6)
)
LOGIN = "<form method=post><label>Name <input name=user></label><label>Password <input name=password type=password></label><button>Sign in</button></form>"

STATIC_PAGES: dict[str, str] = {
    "one paragraph with analytics": shell(f"<h1>Bees</h1>{PARAGRAPH}{ANALYTICS}"),
    "two paragraphs with the site's script": shell(
        f"{NAV}<h1>Bees</h1>{PARAGRAPH}{PARAGRAPH}{FOOTER}{OWN}"
    ),
    "short article in a main element": shell(
        f"{NAV}<main id=content><article>{PARAGRAPH * 2}</article></main>{FOOTER}{OWN}"
    ),
    "one sentence with analytics": shell(f"<p>We are moving. Back on Monday.</p>{ANALYTICS}"),
    "list of links": shell(f"<h1>Links</h1><ul>{LINKS}</ul>{OWN}"),
    "list of links without words": shell("".join(f"<a href=/{n}>{n}</a> " for n in range(9)) + OWN),
    "directory listing": shell(
        "<h1>Index of /pub</h1><pre><a href=a.zip>a.zip</a> 2026-01-01\n<a href=b.zip>b.zip</a> 2026-01-02\n<a href=c.zip>c.zip</a></pre>"
        + ANALYTICS
    ),
    "login": shell(f"<h1>Sign in</h1>{LOGIN}{OWN}"),
    "login with an element for errors": shell(
        f"<div id=error></div><div class=message></div>{LOGIN}{OWN}"
    ),
    "contact form": shell(
        "<h1>Contact</h1><form><input name=mail><textarea name=text></textarea><button>Send</button></form>"
        + OWN
    ),
    "gallery": shell(f"{NAV}<h1>Hives</h1>{PICTURES}{FOOTER}{OWN}"),
    "gallery without captions": shell(
        "".join(f"<a href=/{n}><img src='/{n}.jpg'></a>" for n in range(8))
        + "<div id=lightbox></div>"
        + OWN
    ),
    "not found": shell(
        f"<h1>404</h1><p>The page that you are looking for does not exist.</p><a href=/>Home</a>{ANALYTICS}"
    ),
    "not found on a page with menus": shell(
        f"{NAV}<h1>Not found</h1><p>There is nothing at this address.</p>{FOOTER}{ANALYTICS}"
    ),
    "parked domain": shell(f"<h1>example.com</h1><p>This domain may be for sale.</p>{ANALYTICS}"),
    "coming soon": shell(f"<h1>Coming soon</h1>{ANALYTICS}"),
    "hydrated page of next": shell(f"<div id=__next><h1>Bees</h1>{PARAGRAPH}</div>{HYDRATION}"),
    "hydrated page of react": shell(
        f"<noscript>You need to enable JavaScript to run this app.</noscript><div id=root><h1>Bees</h1>{PARAGRAPH}</div><script src='/static/js/main.0a1b2c3d.js'></script>"
    ),
    "hydrated page of nuxt": shell(
        f"<div id=__nuxt>{NAV}<main>{PARAGRAPH}</main>{FOOTER}</div><script>window.__NUXT__={{}}</script><script src='/_nuxt/entry.js'></script>"
    ),
    "hydrated gallery": shell(
        f"<div id=root>{PICTURES}</div><script src='/static/js/main.0a1b2c3d.js'></script>"
    ),
    "article beside empty helpers": shell(
        f"{PARAGRAPH * 2}<div id=modal-root></div><div id=fb-root></div><div class=toast-container></div><div id=disqus_thread></div><div class=clear></div>{OWN}"
    ),
    "article with an empty slot for advertisements": shell(
        f"<div id='div-gpt-ad-1'><script>googletag.display('div-gpt-ad-1')</script></div>{PARAGRAPH * 2}{ANALYTICS}"
    ),
    "article with a year from a script": shell(
        f"{PARAGRAPH * 2}<footer>Copyright <span id=year></span></footer><script>document.getElementById('year').innerHTML=new Date().getFullYear()</script>"
    ),
    "article with a menu of alpine": shell(
        f"<nav x-data='{{open:false}}'><button x-on:click='open=!open'>Menu</button>{LINKS}</nav>{PARAGRAPH * 2}<script src='/alpine.js' defer></script>"
    ),
    "article about templates": shell(f"{PARAGRAPH * 2}<pre><code>{{{{ name }}}}</code></pre>{OWN}"),
    "article that mentions JavaScript": shell(
        f"{PARAGRAPH * 2}<p>The demonstration needs JavaScript.</p>{OWN}"
    ),
    "article with a lazy picture": shell(
        f"<div class=loading><img loading=lazy src='/a.jpg'></div>{PARAGRAPH * 2}{OWN}"
    ),
    "definition list": shell(
        f"<dl><dt>Bee</dt><dd>An insect that makes honey.</dd><dt>Hive</dt><dd>The place where it lives.</dd><dt>Drone</dt><dd>A male bee.</dd></dl>{OWN}"
    ),
    "opening times": shell(
        f"<h1>Opening times</h1><table><tr><th>Monday to Friday</th><td>9 to 5</td></tr><tr><th>Saturday</th><td>10 to 2</td></tr><tr><th>Sunday and public holidays</th><td>closed</td></tr></table>{OWN}"
    ),
    "video": shell(f"<h1>Dance of the bees</h1><video src='/dance.mp4' controls></video>{OWN}"),
    "frameset of wordpress": shell(
        f"{NAV}<div class='entry-content'>{PARAGRAPH * 2}</div><ul class='comment-list'></ul>{FOOTER}<script src='/wp-includes/js/wp-embed.min.js'></script><script src='/wp-content/themes/x/js/navigation.js'></script>"
    ),
}
