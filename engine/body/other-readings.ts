// What else a name in a part's header may mean. RFC 7578 knows neither quoted pairs (beyond what browsers write) nor
// encoded words (RFC 2047), yet Rack takes every backslash off and Tomcat decodes the words: a rule has to see what
// they see.

/** Charsets in which the bytes of a word are the bytes that rules look for, whatever the letters beyond ASCII are. */
const asciiCharset = /^(?:utf-?8|(?:us-)?ascii|iso-8859-\d{1,2}|windows-125\d|latin1)$/i;

/** `=?charset?B|Q?text?=`; white space between two words belongs to neither. Names are at most a header line long. */
const encodedWord = /=\?([^?\s]+)\?([bq])\?([^?\s]*)\?=(?:\s+(?==\?))?/gi;

function decodeQuotedPrintable(text: string): string {
  return text.replace(/_|=([0-9a-f]{2})/gi, (_written, digits: string | undefined) =>
    digits === undefined ? ' ' : String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** The name with its encoded words decoded (latin1); null when one is in a charset whose bytes say nothing to rules. */
function decodeWords(name: string): string | null {
  let isReadable = true;
  const decoded = name.replace(encodedWord, (_word, charset: string, encoding: string, text: string) => {
    if (!asciiCharset.test(charset)) isReadable = false;
    return encoding.toLowerCase() === 'b'
      ? Buffer.from(text, 'base64').toString('latin1')
      : decodeQuotedPrintable(text);
  });
  return isReadable ? decoded : null;
}

/** Readings of `name` (latin1) other than itself; null when there is one that cannot be known. */
export function otherReadings(name: string): readonly string[] | null {
  const readings = new Set<string>();
  if (name.includes('\\')) readings.add(name.replace(/\\([^])/g, '$1'));
  if (name.includes('=?')) {
    const decoded = decodeWords(name);
    if (decoded === null) return null;
    readings.add(decoded);
  }
  readings.delete(name);
  return [...readings];
}
