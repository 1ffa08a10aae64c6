// Texts of clients as formats need them: cut without half a character, and a host apart from its port.

/** At most so many UTF-16 units, and no half of a pair at the end. */
export function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const last = text.charCodeAt(charsMax - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? charsMax - 1 : charsMax);
}

/** Controls that terminals and readers of lines obey become blanks; `kept`: those that the format can write. */
export const withoutControls = (text: string, kept = ''): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  text.replaceAll(/[\u0000-\u001f\u007f]/g, (found) => (kept.includes(found) ? found : ' '));

/** A name of RFC 1123 or an address: what stands in the field `Host` is the client's to choose. */
const hostForm = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9_.])?|\[[0-9A-Fa-f:.]+\])$/;

/** The field `Host` in its two parts. `name`: null where it is no name of a host; `port`: null where it has none. */
export function hostOf(host: string | null): { readonly name: string | null; readonly port: number | null } {
  if (host === null) return { name: null, port: null };
  const [, name = '', digits] = /^(.*?)(?::(\d{1,5}))?$/s.exec(host) ?? [];
  const port = digits === undefined ? null : Number(digits);
  return { name: hostForm.test(name) ? name : null, port: port !== null && port <= 65_535 ? port : null };
}
