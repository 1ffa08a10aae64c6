// Signs of markup and of script: a tag, a handler, an address that runs, a call.
import { sign, type Sign } from '../sign.js';

const raw = String.raw;
/** What browsers skip between the letters of a scheme. */
const skipped = raw`(?:[\s\x00]|&(?:tab|newline|#0*(?:9|10|13)|#x0*[9ad]);?)*`;
const scheme = (text: string): string => [...text].join(skipped);

/** Elements that run or load something, with what filters take out between their letters. */
const apart = (...names: readonly string[]): string => names.map((name) => [...name].join(raw`[^\w<>]{0,2}`)).join('|');
const running = apart('script', 'svg', 'iframe', 'frame', 'object', 'embed');
const loading = apart('form', 'style', 'link', 'meta', 'img', 'body', 'video');
/** The scheme with something that browsers skip behind one of its letters at least. */
const parted = (text: string): string =>
  [...text]
    .slice(0, -1)
    .map((_, at) =>
      [...text].map((letter, index) => (index === at ? raw`${letter}${skipped.slice(0, -1)}+` : letter)).join(''),
    )
    .join('|');

export const scriptSigns: readonly Sign[] = [
  sign(
    'html-tag',
    ['script'],
    5,
    'an element that runs, loads or rebuilds something',
    raw`<[\s/]*(?:script|svg|img|image|iframe|object|embed|applet|math|style|link|meta|base|form|input|button|body`,
    raw`|html|video|audio|source|details|marquee|select|textarea|table|div|a|b|p|x|isindex|import|template|frameset`,
    raw`|animate|bgsound|layer|xss)(?:[\s/>"'+]|\z)`,
    raw`|<[^\w<>]{0,3}(?:(?:\w+[^\w<>]{0,2}:[^\w<>]{0,3})?(?:${running})|${loading})(?:[^\w.:-]|\z)`,
  ),
  sign(
    'html-handler',
    ['script'],
    5,
    'an attribute that runs script (on…=)',
    raw`(?:[\s'"/\x60;+\x00-\x1f]|^)on[a-z]{3,}[\s/+]*=`,
  ),
  sign(
    'html-parted',
    ['script', 'code'],
    5,
    'an attribute or a call with elements between its letters, which filters take out',
    raw`\bo(?:<\w{0,8}>)?n[a-z]{0,20}(?:<\w{0,8}>[a-z]{0,20}){1,6}[\s/]*=|\bo<\w{0,8}>n[a-z]{3,20}\s*=`,
    raw`|\b(?:alert|confirm|prompt|eval)<\w{0,8}>\s*\(`,
  ),
  sign(
    'html-binding',
    ['script'],
    5,
    'an island of data, or an attribute that shows one as markup',
    raw`<\s*xml[\s>/]|\bdata(?:src|fld|formatas)\s*=`,
  ),
  sign('html-quote', ['script'], 3, 'a quote and a bracket that leave an attribute', raw`['"\x60]\s*/?>|\);['"]>`),
  sign(
    'html-closed',
    ['script'],
    5,
    'the end of an element that a page has open',
    raw`</\s*(?:script|style|textarea|iframe|noscript|svg|body|html|a)\s*>`,
  ),
  sign(
    'script-address',
    ['script'],
    5,
    'a scheme that runs script, and something that runs',
    raw`(?:${scheme('javascript')}|${scheme('vbscript')})${skipped}(?::|&colon;)[^\r\n]*[(\x60=\[<\\]|mhtml\s*:`,
  ),
  sign(
    'markup-escape',
    ['script'],
    5,
    'a bracket or a letter written as an escape, as an entity or in UTF-7',
    raw`\\x3c|\\u003c|&#0*(?:60|9[7-9]|1[01]\d|12[0-2]);?|&#x0*(?:3c|6[1-9a-f]|7[0-9a]);?|%u003c|\+adw-|=["']utf-7`,
  ),
  sign(
    'dialogue',
    ['script', 'code'],
    5,
    'a call of what shows a dialogue, also by way of another call',
    raw`(?:\b|[(\[])(?:alert|confirm|prompt)[)\]'"]*(?:\x60|\(|\?\.`,
    raw`|\s*\.\s*(?:call|apply|bind|source|valueof|concat)\b)`,
  ),
  sign(
    'script-call',
    ['script', 'code'],
    3,
    'a call of what runs text or fetches something',
    raw`\b(?:alert|confirm|prompt|eval|settimeout|setinterval|function|atob|btoa|fetch|constructor|import|expression`,
    raw`|execscript|open`,
    raw`|write(?:ln)?|fromcharcode|call|apply)\s*(?:\(|\x60|\?\.)`,
  ),
  sign(
    'script-object',
    ['script'],
    5,
    'a member of the document or window that script reads or writes',
    raw`\bdocument\s*(?:\?\.|\.|\[)\s*['"]?(?:cookie|write|domain|location|body|url)|\binnerhtml\b|\bfromcharcode\b`,
    raw`|\b(?:window|self|top|this|globalthis)\s*\[|\blocation\s*(?:=|\.(?:href|replace|assign|hash))`,
    raw`|\bconstructor\s*[(\[.]`,
  ),
  sign(
    'style-code',
    ['script'],
    5,
    'style or data that loads or runs script',
    raw`expression\s*\(|-moz-binding|behaviou?r\s*:\s*url|@import\b|data\s*:\s*text/html|data\s*:[^\s<]{0,40},[^<]*<`,
  ),
  sign(
    'xml-entity',
    ['script', 'file', 'code'],
    5,
    'a document type, entity, schema or inclusion of XML',
    raw`<!(?:doctype|entity|\[cdata)|!entity\s|\bsystem\s+["'](?:file|https?|ftp|php|/)|<xi:include`,
    raw`|schemalocation\s*=\s*['"][^'"]*\bhttps?:`,
  ),
  sign(
    'script-address-hidden',
    ['script'],
    5,
    'a scheme that runs script, with something that browsers skip between its letters',
    raw`(?:${parted('javascript')}|${parted('vbscript')})\s*(?::|&colon;)`,
  ),
];
