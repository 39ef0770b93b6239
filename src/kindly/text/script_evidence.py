"""Evidence that a page shows its text only with JavaScript. One table for all stages.

Extraction asks it about a page with hardly any text, fetch about a response with little text. Both use the same words;
each decides where they count. Regular expressions as text, in lower case and bounded, so that fetch can search bytes.
"""

NOT_ON = "not (?:currently )?(?:enabled|available|supported|active|activated|allowed|on|turned on|working|running)"
REQUESTS = "|".join(
    (
        r"(?:enable|activate|turn on|switch on|requires?|needs?|without|allow|supports?)\s+(?:your\s+)?java ?script",
        r"java ?script\s+(?:is|must be|seems to be|has been|needs to be|to be|support)\s+(?:currently\s+)?"
        rf"(?:disabled|required|enabled|turned o(?:ff|n)|necessary|{NOT_ON})",
        r"(?:browser|bitte) java ?script|java ?script (?:aktivieren|einschalten)|aktivieren sie java ?script",
        r"active[rz] java ?script|habilit[ae]r? java ?script",
        r"(?:请|請)?(?:启用|啟用) ?java ?script",
    )
)
"""Sentences that ask for JavaScript."""

LOADING = r"loading|please wait|one moment|wird geladen|chargement|cargando|initiali[sz]ing|starting|redirecting|加载中"
"""What a page says while a script loads its text."""

MOUNTS = (
    "root|app|__next|__nuxt|___gatsby|gatsby-focus-wrapper|react-root|react-app|app-root|main-app|app-mount|"
    "app-container|application|ember-app|vue-app|q-app|page-root|content-root|svelte|sapper|mount|spa|elm|blazor|"
    "__docusaurus|flutter_target"
)
"""Names of the element that a framework renders into."""

FRAMEWORKS = r"\bng-app\b|\bdata-reactroot\b|<flutter-view|flutter_bootstrap"
"""Other marks of a page that a framework renders."""

MODULE = r"<script\b[^<>]{0,500}\btype=[\"']?module\b"
LINKED_SCRIPT = r"<script\b[^<>]{0,500}\bsrc="

RENDERING = "|".join(
    (
        r"\bfetch\s*\(|xmlhttprequest|\baxios\b|\$\.(?:get|ajax|getjson)|new eventsource|new websocket|import\s*\(",
        r"document\.(?:write|body|getelementbyid|queryselector)|createelement|appendchild",
        r"innerhtml|textcontent|insertadjacenthtml|customelements\.define",
        r"\.render\s*\(|createroot|createapp|\.mount\s*\(",
        r"\bimport\s{0,9}[{*\"']|\bimport\s{1,9}\w{1,60}\s{1,9}from\b",
        r"location(?:\.href)?\s*=|location\.(?:replace|assign)",
    )
)
"""Calls of a script that loads text, writes it into the page or goes to another page."""

WRITING = "|".join(
    (
        r"innerhtml|insertadjacenthtml|replacechildren|customelements\.define|attachshadow",
        r"createroot|createapp|\.mount\s*\(|\.render\s*\(",
    )
)
"""Calls of a script that certainly writes text into the page."""

OTHER_SCRIPTS = "|".join(
    (
        r"google-analytics|googletagmanager|gtag\b|\bgtm\b|doubleclick|googlesyndication|adsbygoogle|googletag|googleadservices",
        r"analytics|facebook\.net|fbevents|\bfbq\b|hotjar|matomo|piwik|\b_paq\b|\b_gaq\b|plausible|umami|clarity\.ms|metrika",
        r"hm\.baidu|cnzz|quantserve|scorecardresearch|chartbeat|newrelic|nr-data|sentry|bugsnag|datadog|optimizely|segment\.",
        r"hs-scripts|hubspot|intercom|zendesk|tawk\.to|crisp\.chat|addthis|sharethis|disqus|bat\.bing|licdn|tiktok|pinimg",
        r"onetrust|cookielaw|cookiebot|cookieconsent|consent|usercentrics|iubenda|recaptcha|hcaptcha|turnstile",
        r"typekit|fontawesome|webfont|cdn-cgi|cloudflareinsights|polyfill|modernizr|html5shiv|respond\.(?:min\.)?js|prebid",
        r"jquery(?:-migrate|-ui)?[.-][\w.]*js|jquery\.min|bootstrap[\w.]*\.js|popper|lazysizes|lazyload|lightbox|fancybox",
        r"swiper|slick|owl\.carousel|photoswipe|masonry|wow\.(?:min\.)?js|aos\.js|prism|highlight[\w.]*js|mathjax|katex",
        r"wp-embed|wp-emoji|_wpemojisettings|comment-reply|sw\.js|serviceworker|instant\.?page|smooth-?scroll|dark-?mode|theme\.js",
    )
)
"""Scripts that do not draw the page: they measure, advertise, decorate, or only help other scripts."""
