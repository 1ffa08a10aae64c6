// What is taken as a logo: PNG by its chunks, or SVG that draws and does nothing else. An SVG with anything beyond
// the lists below is refused with its line: to leave parts out would change the picture unseen.
import { unfit } from '../kit/endpoint.js';

export const logoBytesMax = 256 * 1024;
const pixelsMax = 2048;

const elements = new Set(
  (
    'svg g defs title desc path rect circle ellipse line polyline polygon text tspan linearGradient ' +
    'radialGradient stop clipPath mask symbol use'
  ).split(' '),
);
const attributes = new Set(
  (
    'xmlns xmlns:xlink version id class viewBox width height preserveAspectRatio x y x1 x2 y1 y2 cx ' +
    'cy r rx ry fx fy d points transform fill fill-rule fill-opacity stroke stroke-width ' +
    'stroke-linecap stroke-linejoin stroke-dasharray stroke-dashoffset stroke-miterlimit ' +
    'stroke-opacity opacity clip-path clip-rule mask offset stop-color stop-opacity gradientUnits ' +
    'gradientTransform spreadMethod clipPathUnits maskUnits font-family font-size font-weight ' +
    'font-style text-anchor letter-spacing dx dy role aria-label aria-hidden href xlink:href color ' +
    'display'
  ).split(' '),
);
const namespaces = new Set(['http://www.w3.org/2000/svg', 'http://www.w3.org/1999/xlink']);
/** Parts that draw others, each again for every place that names it: few, for they multiply. */
const drawnAgainMax = 24;
const inside = new Set(['defs', 'symbol', 'mask', 'clipPath']);
const drawsAgain = (name: string, given: string, open: readonly string[]): boolean =>
  name === 'use' || (/\s(?:mask|clip-path)\s*=/.test(given) && open.some((one) => inside.has(one)));
/** Addresses only of what the file itself has. */
const isOwn = (value: string): boolean => /^#[\w.-]+$/.test(value);

const token = /<!--[^]*?-->|<\?xml\s[^>]*\?>|<(\/?)([A-Za-z][\w:-]*)((?:"[^"]*"|'[^']*'|[^>"'])*?)(\/?)>|[^<]+|</g;
const attribute = /\s+([A-Za-z_][\w:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

const refuse = (text: string, at: number, what: string): never => {
  const line = text.slice(0, at).split('\n').length;
  throw unfit(
    'file',
    `has ${what} in line ${line}`,
    'a logo draws: leave out scripts, styles, links and foreign parts',
  );
};

function checkAttributes(text: string, at: number, given: string): void {
  for (const [, name = '', double, single = ''] of given.matchAll(attribute)) {
    const value = double ?? single;
    const isLink = name === 'href' || name === 'xlink:href';
    const urls = [...value.matchAll(/url\(\s*['"]?([^)'"]*)['"]?\s*\)/gi)].map(([, url = '']) => url);
    if (!attributes.has(name)) refuse(text, at, `the attribute ${name.slice(0, 40)}`);
    if (value.includes('&') || value.includes('\\')) refuse(text, at, `an entity or escape in ${name}`);
    if (name.startsWith('xmlns') ? !namespaces.has(value) : isLink && !isOwn(value))
      refuse(text, at, `an address in ${name}`);
    if (/url\(/i.test(value) && (urls.length === 0 || !urls.every(isOwn))) refuse(text, at, `an address in ${name}`);
    if (/javascript:|data:|(?:image|image-set|src|cross-fade|element)\(/i.test(value))
      refuse(text, at, `an address in ${name}`);
  }
  if (given.replace(attribute, '').trim() !== '') refuse(text, at, 'an attribute without quotation marks');
}

/** Throws 422 with the line for what does more than draw, and for what is no SVG. */
export function checkSvg(text: string): void {
  const open: string[] = [];
  let isBegun = false;
  let drawnAgain = 0;
  for (const { 0: whole, 1: slash, 2: name, 3: given = '', 4: end, index } of text.matchAll(token)) {
    if (/^<\?xml\s/.test(whole) && /encoding/.test(whole) && !/encoding\s*=\s*["']utf-8["']/i.test(whole))
      refuse(text, index, 'another encoding than UTF-8');
    if (whole.startsWith('<!--') || /^<\?xml\s/.test(whole)) continue;
    if (name === undefined) {
      if (whole === '<') refuse(text, index, 'a declaration, an instruction or a broken tag');
      if (open.length === 0 && whole.trim() !== '') refuse(text, index, 'text outside of the drawing');
      continue;
    }
    if (!elements.has(name)) refuse(text, index, `the element ${name.slice(0, 40)}`);
    if (slash === '/') {
      if (open.pop() !== name) refuse(text, index, `an end of ${name} without its beginning`);
      continue;
    }
    if (open.length === 0 && (isBegun || name !== 'svg')) refuse(text, index, 'more than one drawing, or none');
    if (!isBegun && !/\sxmlns\s*=/.test(given)) refuse(text, index, 'no xmlns="http://www.w3.org/2000/svg"');
    isBegun = true;
    if (drawsAgain(name, given, open) && ++drawnAgain > drawnAgainMax)
      refuse(text, index, `more than ${drawnAgainMax} parts that are drawn again`);
    checkAttributes(text, index, given);
    if (end !== '/') open.push(name);
    if (open.length > 50) refuse(text, index, 'elements nested deeper than 50');
  }
  if (!isBegun || open.length > 0) throw unfit('file', 'is no complete SVG', 'save it as plain SVG, or as PNG');
}

/** Throws 422 for a PNG that is broken, too large in pixels, or has something behind its end. */
function checkPng(bytes: Buffer): void {
  let at = 8;
  for (let count = 0; at + 12 <= bytes.length; count++) {
    const [length, type] = [bytes.readUInt32BE(at), bytes.toString('latin1', at + 4, at + 8)];
    if ((count === 0) !== (type === 'IHDR')) break;
    if (type === 'IHDR') {
      const [width, height] = [bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 12)];
      if (width < 1 || height < 1 || width > pixelsMax || height > pixelsMax)
        throw unfit('file', `has ${width} by ${height} pixels`, `${pixelsMax} by ${pixelsMax} at most`);
    }
    at += 12 + length;
    if (type === 'IEND' && at === bytes.length) return;
  }
  throw unfit('file', 'is no complete PNG', 'save it again');
}

/** The media type, by content. Throws 422. */
export function checkLogo(bytes: Buffer): 'image/png' | 'image/svg+xml' {
  if (bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n') {
    checkPng(bytes);
    return 'image/png';
  }
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  if (text.includes('\uFFFD') || !/^\s*<(?:\?xml\s|svg|!--)/.test(text))
    throw unfit('file', 'is neither PNG nor SVG', 'save it as one of them');
  checkSvg(text);
  return 'image/svg+xml';
}
