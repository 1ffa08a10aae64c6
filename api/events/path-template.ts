// The path of a request with its variable parts named, so that events of one endpoint are counted together. A guess by
// shape, made when an event is stored: what discovery learns of an application comes later and changes.
const partsMax = 12;
const charsMax = 200;

const numbers = /^\d+$/;
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const hexadecimal = /^[0-9a-f]{16,}$/i;

function partOf(part: string): string {
  if (numbers.test(part)) return '{number}';
  if (uuid.test(part)) return '{uuid}';
  if (hexadecimal.test(part)) return '{hex}';
  // tokens and payloads: nothing that a person would call a path
  if (part.length > 40 || /[^\w.~!@:,;=+%-]/.test(part) || /%[0-9a-f]{2}.*%[0-9a-f]{2}/i.test(part)) return '{text}';
  return part;
}

export function pathTemplate(uri: string): string {
  const [path = ''] = uri.split(/[?#]/, 1);
  if (!path.startsWith('/')) return path === '' ? '' : '{text}';
  const parts = path.slice(0, 4000).split('/');
  const shown = parts.slice(0, partsMax).map(partOf).join('/');
  return (parts.length > partsMax ? `${shown}/…` : shown).slice(0, charsMax);
}
