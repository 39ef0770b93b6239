"""What gives away a page that stands in place of another: words and marks of challenges, logins, paywalls and the like.

Tables only; `outcome` decides how much text a page may have and still be judged by them.
"""

import re

SUFFIX = r"[\s.…!?]*(?:\s*[-|–—:·•»(].{0,80})?\s*\Z"
"""A title may go on with the site's name."""

CHALLENGE_MARKUP = (
    "_cf_chl_opt",  # Cloudflare
    'id="challenge-form"',
    'id="cf-challenge',
    'id="cf-error-details"',
    "captcha-delivery.com",  # DataDome
    'id="px-captcha"',  # PerimeterX, HUMAN
    "captcha.px-cdn.net",
    "errors.edgesuite.net",  # Akamai
    "sec-if-cpt-container",
    "/_sec/cp_challenge",
    "Incapsula incident ID",  # Imperva
    "window.gokuProps",  # AWS WAF
    "awsWafCookieDomainList",
    "/.within.website/x/cmd/anubis",  # Anubis
    'id="anubis_challenge"',
    "sgcaptcha",  # SiteGround
    "sucuri_cloudproxy_js",  # Sucuri
    "validate.perfdrive.com",  # Radware
    "/showcaptcha?",  # Yandex
    "validateCaptcha",  # Amazon
    "_guard/html.js",  # DDoS-Guard and kin
)
GUARDED_MARKUP = (
    "/149e9513-01fa-4fb0-aad4-566afd725d1b/",  # Kasada
    "/_Incapsula_Resource?",  # Imperva
)
"""Scripts that guarded sites put on their real pages too; they count only where there is no text."""
CHALLENGE_TITLE = re.compile(
    r"(?:just a moment|attention required! \| cloudflare|one moment,? please|checking your browser|"
    r"verify(?:ing)? (?:that )?you are (?:a )?human|are you (?:a |not a )?(?:robot|human)|robot check|"
    r"human verification|bot verification|client challenge|ddos-guard|pardon our interruption|"
    r"access to this page has been denied|making sure you(?:'|’)re not a bot|vercel security checkpoint|"
    r"you have been blocked|sorry, you have been blocked|performing security verification|"
    r"radware (?:bot manager )?captcha|nur einen moment|un instant|un momento|один момент)"
    + SUFFIX,
    re.I,
)
REFUSAL_TITLE = re.compile(
    r"(?:access denied|request rejected|blocked|403 forbidden|forbidden|captcha|security check(?:point)?|please verify)"
    + SUFFIX,
    re.I,
)
"""Titles that an honest page may bear too; they count only with hardly any text."""
CHALLENGE_TEXT = re.compile(
    r"verify (?:that )?you(?:'|’)?(?: are|re) (?:a )?(?:human|not a (?:robot|bot))|checking your browser before|"
    r"unusual traffic from your computer|press (?:&|and) hold to confirm|"
    r"request unsuccessful\. incapsula|complete the security check to access|"
    r"why (?:have i been|did i get) blocked|(?:solve|complete) (?:this|the) captcha|"
    r"you(?:'|’)ve been blocked by network security|our systems have detected unusual|"
    r"needs to review the security of your connection|the requested url was rejected\. please consult|"
    r"your access to this site has been limited|enter the characters you see below|"
    r"is using a security service to protect itself|confirm (?:that )?you(?:'|’)?(?: are|re) not a (?:robot|bot)",
    re.I,
)
CHALLENGE_WORDS = (
    "human", "robot", " bot", "checking your browser", "unusual traffic", "to confirm", "incapsula", "security check",
    "blocked", "captcha", "detected unusual", "your connection", "please consult", "has been limited",
    "characters you see", "security service",
)  # fmt: skip
"""One of them is in every match of `CHALLENGE_TEXT`."""
CAPTCHA_WORDS = ("captcha", "turnstile")
"""One of them is in every match of `CAPTCHA_WIDGET`."""
CAPTCHA_WIDGET = re.compile(
    r"class=[\"']?(?:h-captcha|g-recaptcha|cf-turnstile|frc-captcha)\b|hcaptcha\.com/1/api|"
    r"challenges\.cloudflare\.com/turnstile|recaptcha/(?:api|enterprise)\.js",
    re.I,
)

LOGIN_TITLE = re.compile(
    r"\b(?:log ?in|sign ?in|sign ?on|anmelden|einloggen|connexion|iniciar sesión|accedi|войти|ログイン)\b",
    re.I,
)
LOGIN_PATH = re.compile(
    r"/(?:log-?in|sign-?in|users/sign_in|sso|accounts/login|auth)(?:[/?.]|\Z)", re.I
)
PASSWORD_FIELD = re.compile(r"<input[^>]{0,500}type=[\"']?password", re.I)
SIGN_IN_WITH = re.compile(
    r"(?:continue|sign ?in|log ?in) with (?:google|apple|facebook|github|microsoft|sso|email)", re.I
)
LOGIN_TEXT = re.compile(
    r"you (?:must|need to|have to) (?:be logged in|be signed in|log ?in|sign ?in)"
    r"(?! (?:or \w+ )?(?:to|before you can) (?:post|comment|reply|vote|leave|add|rate|follow|like|write|edit))|"
    r"(?:log|sign) ?in to (?:continue|view|see|access)\b|(?:log|sign) ?in (?:is )?required|"
    r"join or (?:log|sign) in to|please (?:log|sign) ?in(?: first)?(?:[.!]|\Z)|"
    r"this (?:page|content|video|account|group|community) is private",
    re.I,
)

LOCKED_SCHEMA = re.compile(r"[\"']isAccessibleForFree[\"']\s*:\s*[\"']?(?:false|no)\b", re.I)
PAYWALL_MARKUP = re.compile(
    r"(?:class|id|data-testid)=[\"'][^\"']{0,120}\b(?:paywall|regwall|piano-(?:offer|inline)|tp-modal|subscriber-only|"
    r"meter(?:ed)?-(?:wall|content)|gateway-content|article-gate|subscription-required|premium-locked|leaky-paywall)|"
    r"[\"']article:content_tier[\"'] content=[\"'](?:locked|metered)|cdn\.tinypass\.com|poool\.fr|pelcro|"
    r"[\"']cssSelector[\"']\s*:",
    re.I,
)
PAYWALL_TEXT = re.compile(
    r"(?:subscribe|subscription|register|sign up) (?:now |today )?(?:is )?(?:to|required to) "
    r"(?:continue|read|unlock|keep|access)"
    r"(?! (?:the |our |my )?(?:newsletter|mailing|feed))|"
    r"(?:article|content|story|page|post) is (?:only )?(?:available|reserved|exclusive(?:ly)?)? ?(?:for|to) "
    r"(?:our )?(?:paid |paying |premium )?(?:subscribers|members)|already a (?:paid )?subscriber\?|"
    r"become a (?:subscriber|member) to (?:read|continue|unlock)|"
    r"you(?:'|’)ve (?:reached|hit) your (?:free )?(?:article|monthly|story) limit|"
    r"(?:subscribe|start your (?:free )?trial|log in) (?:or \w+ ?\w* )?to (?:continue|keep|finish) reading|"
    r"(?:this|the rest of (?:this|the)) (?:article|post|story) is (?:for|behind)|"
    r"unlock (?:this|the full) (?:article|story|post)|upgrade to (?:paid|read)|"
    r"jetzt weiterlesen mit|abonnez-vous pour lire|réservé aux abonnés|contenido exclusivo para suscriptores",
    re.I,
)

PAYWALL_WORDS = (
    " to continue", " to read", " to unlock", " to keep", " to access", " to finish", "subscriber", " members",
    "reached your", "hit your", " is for", " is behind", "unlock th", "upgrade to ", "weiterlesen mit",
    "abonnez-vous", "aux abonn", "suscriptores",
)  # fmt: skip
"""One of them is in every match of `PAYWALL_TEXT`, and they are found much faster."""

CONSENT_ADDRESS = re.compile(
    r"\Ahttps?://(?:consent\.(?:google|youtube|yahoo)\.|guce\.|[^/]*/(?:privacy-gate|cookie-?wall|consent-?(?:wall|gate)))",
    re.I,
)
CONSENT_TITLE = re.compile(
    r"(?:before you continue|we value your privacy|your privacy(?: matters)?|cookie consent|consent|privacy gate|"
    r"privacy settings|datenschutz(?:einstellungen|-einstellungen)|yahoo is part of the yahoo family of brands|"
    r"cookie ?wall|mit werbung weiterlesen|diese webseite verwendet cookies)" + SUFFIX,
    re.I,
)
CONSENT_TEXT = re.compile(
    r"before you continue to (?:google|youtube)|(?:we|our \d+ partners|und unsere|nous)\b.{0,120}\bcookies|"
    r"cookies\b.{0,120}\b(?:partners|partner|consent|agree|accept)|store and/or access information on a device|"
    r"mit werbung weiterlesen|zustimmen und weiter|continuer sans accepter",
    re.I | re.S,
)
CONSENT_BUTTON = re.compile(
    r"<(?:button|a|input)\b[^>]{0,300}?(?:>|value=[\"'])\s*(?:<[^>]{1,200}>\s*)*"
    r"(?:(?:i )?(?:accept|agree|consent|allow|reject|manage)\b|ok(?:ay)?\b|alle akzeptieren|zustimmen|einverstanden|"
    r"tout accepter|j(?:'|’)accepte|aceptar|accetta)",
    re.I,
)
CONSENT_WORDS = re.compile(
    r"cookie|consent|privacy|partner|advertis|personali[sz]|tracking|accept|agree|reject|datenschutz|"
    r"zustimm|werbung|publicité|manage|settings|continue",
    re.I,
)
POLICY_TITLE = re.compile(r"polic(?:y|ies)|notice|statement|richtlinie|guide|how ", re.I)

NOT_FOUND_TITLE = re.compile(
    r"(?:[^|–—]{0,60}[|–—-] )?(?:error:? ?)?(?:(?:404|410)[\s:!.|–—-]*)?"
    r"(?:oops[,!.… ]*|sorry[,!.… ]*|uh[ -]oh[,!.… ]*)?"
    r"(?:the |this |that |your )?(?:requested )?"
    r"(?:(?:page|file|document|article|content|url|post|site|product|item|resource|topic|seite|página|pagina) )?"
    r"(?:(?:could |was |can |is |has )?(?:not|n(?:'|’)t) (?:be |been )?found|"
    r"could(?:n(?:'|’)t| not) be found|can(?:'|’)t be found|"
    r"nicht gefunden|non trouvée|introuvable|no encontrada|non trovata|não encontrada|"
    r"does(?:n(?:'|’)t| not) exist|gone|error)" + SUFFIX,
    re.I,
)
BARE_404 = re.compile(r"(?:error:? ?)?404(?: error| page)?" + SUFFIX, re.I)
NOT_FOUND_TEXT = re.compile(
    r"(?:the|this|that) (?:page|url|address|link|content|article|document|file|post|product|resource|listing)"
    r"(?: (?:that )?(?:you|we)(?:'|’)?(?:re| are| were| have|ve)? ?(?:\w+ ){0,2}"
    r"(?:looking for|requested|trying to \w+|followed|accessed))?"
    r".{0,60}?(?:(?:not|n(?:'|’)t|never|no longer|cannot) ?(?:be )?(?:found|exist|available|here|existed|work)|"
    r"(?:been|was) (?:moved|removed|deleted|renamed)|have moved|is gone)|"
    r"we (?:can(?:'|’)?t|cannot|could(?: not|n(?:'|’)t)|were unable to|are unable to) (?:seem to )?(?:find|locate)|"
    r"requested (?:url|page|resource|document|file).{0,80}not (?:be )?found|nothing (?:was )?found (?:here|at this)|"
    r"page you(?:'|’)?(?:re| are| were) looking for|seite (?:wurde|konnte) nicht gefunden|"
    r"page (?:demandée|que vous (?:cherchez|recherchez)).{0,60}(?:existe|introuvable|trouv)|"
    r"página que (?:busca|buscas|está buscando).{0,60}(?:existe|encontr)",
    re.I,
)

SCRIPT_TEXT = re.compile(
    r"(?:enable|activate|turn on|requires?|need|without|allow|activer|aktivieren sie) (?:your )?java ?script|"
    r"java ?script (?:is|must be|seems to be|has been|needs to be|to be) "
    r"(?:disabled|required|enabled|turned o(?:ff|n)|not enabled|"
    r"not available|necessary)|(?:browser|bitte) java ?script|supports? java ?script|java ?script aktivieren",
    re.I,
)
SHELL_MARKUP = re.compile(
    r"<(?:div|main|section|body)[^>]{0,200}\bid=[\"']?"
    r"(?:root|app|__next|__nuxt|main-app|app-root|react-root|svelte|gatsby-focus-wrapper|ember-app|q-app|application|___gatsby)\b|"
    r"<app-root\b|<shreddit-app\b|<ytd-app\b|ng-app=|data-reactroot|<flutter-view|flutter_bootstrap|"
    r"<script[^>]{0,300}type=[\"']?module",
    re.I,
)
DRAWING_SCRIPT = re.compile(
    r"<script\b[^>]{0,500}\bsrc=|document\.(?:write|body|getElementById|querySelector|createElement)|innerHTML|textContent|"
    r"\bfetch\(|XMLHttpRequest|appendChild|(?:window|document|top)\.location|location\.(?:href|replace|assign)",
    re.I,
)
LOADING_TEXT = re.compile(
    r"\W*(?:loading|please wait|wird geladen|chargement|cargando|initiali[sz]ing|starting|redirecting)\b.{0,60}\Z",
    re.I,
)
