// Signs of markup and script: a tag, a handler, an address that runs, a call.
import { sign, type Sign } from '../sign.js';

const raw = String.raw;
/** Letters that may stand apart, as browsers read the scheme of an address. */
const apart = (text: string): string => [...text].join(raw`[\s\x00]*`);
/** What browsers skip in a scheme, as it came: a tab or line break, plain or as an entity. */
const skipped = raw`(?:[\t\r\n\x00]|&(?:tab|newline|#0*(?:9|10|13)|#x0*[9ad])(?:;|\b))`;
/** The scheme with something skipped behind at least one of its letters. */
const interrupted = (scheme: string): string =>
  [...scheme]
    .map((_, at) => [...scheme].map((letter, index) => letter + skipped + (index === at ? '+' : '*')).join(''))
    .join('|');
/** Elements that run or load something, whose letters filters that remove characters put together. */
const elementsApart = ['script', 'style', 'svg', 'form', 'dialog', 'iframe', 'frame', 'object', 'embed', 'applet']
  .concat(['marquee', 'meta', 'link', 'base', 'body', 'image', 'img', 'video', 'audio', 'animate', 'bindings'])
  .map((name) => [...name].join(raw`[^\w<>]{0,3}`));

export const scriptSigns: readonly Sign[] = [
  sign(
    'html-tag',
    ['script'],
    5,
    'an element of HTML; such as run or load something also with characters between their letters',
    raw`<[\s/!?]*(?:script|iframe|svg|img|image|body|object|embed|applet|meta|base|link|form|input|button|isindex`,
    raw`|style|video|audio|source|marquee|math|details|select|textarea|keygen|table|t[dr]|div|span|a|b|p|br|x|frameset`,
    raw`|frame|layer|xss|html|bgsound|animate|set|template|noscript|dialog|area|map|title)(?:[^\w.:-]|\z)`,
    raw`|<[^\w<>]{0,6}(?:${elementsApart.join('|')})(?:[^\w.:-]|\z)`,
  ),
  sign(
    'html-tag-prefixed',
    ['script'],
    5,
    'an element that runs script behind the prefix of a namespace',
    raw`<[^\w<>]{0,6}[\w.-]+[^\w<>]{0,3}:[^\w<>]{0,3}(?:script|iframe|svg|applet|embed|foreignobject|handler)`,
    raw`(?:[^\w.:-]|\z)`,
  ),
  sign(
    'html-handler',
    ['script'],
    5,
    'an attribute that runs script (on…=)',
    raw`(?:\W|^)on\w{3,45}[\s/+]*=[\s+]*(?:['"\x60\w&%({\[]|\z)`,
  ),
  sign(
    'script-address',
    ['script'],
    5,
    'an address whose scheme runs script, and a call in it',
    raw`(?:${apart('java')}|${apart('vb')}|live)[\s\x00]*${apart('script')}\s*(?::|&colon;|&#\w+;?)`,
    raw`[^\r\n]*[(\x60=\[<\\]`,
  ),
  sign(
    'script-address-hidden',
    ['script'],
    5,
    'a scheme that runs script, with what browsers skip between its letters',
    raw`(?:${interrupted('javascript')}|${interrupted('vbscript')})\s*(?::|&colon;|&#0*58|&#x0*3a)`,
  ),
  sign(
    'script-letter-entity',
    ['script'],
    5,
    'a letter written as an entity of its number',
    raw`&#(?:0*(?:6[5-9]|[78]\d|90|9[7-9]|1[01]\d|12[0-2])|x0*(?:[46][1-9a-f]|[57][0-9a]))(?:;|\b)`,
  ),
  sign(
    'script-call',
    ['script', 'code'],
    3,
    'a call of a function that script runs or shows something with',
    raw`\b(?:alert|confirm|prompt|eval|settimeout|setinterval|function|atob|fetch|constructor|import|expression`,
    raw`|execscript|open|write(?:ln)?|fromcharcode|call|apply)\s*(?:\(|\x60|\?\.)`,
  ),
  sign(
    'script-object',
    ['script'],
    5,
    'a member of the document or window that script reads or writes',
    raw`\b(?:document|window|self|top|parent|this|globalthis|location|frames)\s*(?:\?\.|\.|\[)\s*['"/]?`,
    raw`(?:cookie|domain|write|location|alert|eval|body|url|createelement|getelement|innerhtml|referrer|constructor)`,
  ),
  sign(
    'script-entity',
    ['script'],
    3,
    'a character written as an entity that needs none',
    raw`&(?:#x?0*[0-9a-f]{2,6};?|tab;|newline;|colon;|lpar;|lt;)`,
  ),
  sign(
    'style-script',
    ['script'],
    5,
    'style, data or an attribute that loads markup or script',
    raw`expression\s*\(|-moz-binding|behaviou?r\s*:|@import|data\s*:\s*(?:text/|[^,\s]*base64)|srcdoc\s*=`,
    raw`|xlink:href|formaction\s*=|vbscript\s*:|mhtml:|data\s*:\s*[^\s,<]*\s*,[^<\s]*\s*<\s*\w`,
  ),
  sign(
    'script-obfuscated',
    ['script', 'code'],
    3,
    'script without letters, or letters as escapes',
    raw`\[\]\s*\[|!\[\]|\+\[\]|\(\)\[|\\x[0-9a-f]{2}|\\u00[0-9a-f]{2}|\$\{[^}]*\(`,
  ),
  sign(
    'xml-entity',
    ['script', 'file', 'code'],
    5,
    'a document type, entity or inclusion of XML',
    raw`<!(?:entity|doctype|\[cdata|attlist|element)|\b(?:system|public)\s+["'](?:file|https?|ftp|php|/)`,
    raw`|!entity\s+(?:%\s+)?\S+\s+(?:system|public)\b|<xi:include|<\?xml-stylesheet`,
    raw`|\bschemalocation\s*=\s*['"][^'"]*https?:`,
  ),
];
