// Where in a page a value stands: what makes a text harmless between elements does not within a script, a style, or an
// attribute without quotes.
/** Within the last tag of what stands before: an attribute without quotes, its name, a script, a style. */
export function placeIn(before: string): 'text' | 'quoted' | 'single' | 'bare' | 'script' {
  const text = before.slice(-4000).replace(/<!--[^]*?-->/g, '');
  const script = Math.max(text.lastIndexOf('<script'), text.lastIndexOf('<style'));
  const open = text.lastIndexOf('<');
  if (open > text.lastIndexOf('>')) {
    const tag = text.slice(open);
    if (tag.startsWith('<!--')) return 'script';
    const outside = tag.replace(/"[^"]*"|'[^']*'/g, '');
    if (/"[^"]*$/.test(outside)) return /\son\w+\s*=\s*"[^"]*$|style\s*=\s*"[^"]*$/i.test(tag) ? 'script' : 'quoted';
    if (/'[^']*$/.test(outside)) return /\son\w+\s*=\s*'[^']*$|style\s*=\s*'[^']*$/i.test(tag) ? 'script' : 'single';
    return 'bare';
  }
  if (script !== -1 && !/<\/(?:script|style)/.test(text.slice(script))) return 'script';
  return 'text';
}

/** Whether what is escaped for elements and quoted attributes does harm after this text. */
export function isOpenPlace(before: string): boolean {
  if (before === '') return false;
  const place = placeIn(before);
  return place === 'bare' || place === 'script';
}
