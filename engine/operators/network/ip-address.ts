// Textual IP addresses to words, as inet_pton reads them (RFC 4291 section 2.2; four decimal octets without leading
// zeros).

function octetsOf(text: string): number {
  let address = 0;
  let octets = 0;
  let at = 0;
  while (octets < 4) {
    let number = -1;
    const start = at;
    while (at < text.length) {
      const digit = text.charCodeAt(at) - 0x30;
      if (digit < 0 || digit > 9) break;
      number = (number < 0 ? 0 : number) * 10 + digit;
      at += 1;
      if (at - start > 3) return -1;
    }
    if (number < 0 || number > 255 || (at - start > 1 && text.charCodeAt(start) === 0x30)) return -1;
    address = address * 256 + number;
    octets += 1;
    if (octets < 4) {
      if (text.charCodeAt(at) !== 0x2e) return -1;
      at += 1;
    }
  }
  return at === text.length ? address : -1;
}

/** The address as a number from 0 to 2^32 − 1, or −1 when the text is no IPv4 address. */
export function parseIpv4(text: string): number {
  return text.length < 7 || text.length > 15 ? -1 : octetsOf(text);
}

/** Sixteen-bit groups of one side of `::`; an IPv4 tail counts as two. Null when malformed. */
function groupsOf(text: string, tailAllowed: boolean): number[] | null {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':', 9);
  for (const [index, part] of parts.entries()) {
    if (tailAllowed && index === parts.length - 1 && part.includes('.')) {
      const address = parseIpv4(part);
      if (address < 0) return null;
      groups.push(Math.floor(address / 65536), address % 65536);
      continue;
    }
    if (part.length < 1 || part.length > 4) return null;
    let group = 0;
    for (let at = 0; at < part.length; at += 1) {
      const digit = '0123456789abcdef'.indexOf((part[at] as string).toLowerCase());
      if (digit < 0) return null;
      group = group * 16 + digit;
    }
    groups.push(group);
  }
  return groups;
}

/** The address as four 32-bit words, most significant first, or null when the text is no IPv6 address. */
export function parseIpv6(text: string): readonly [number, number, number, number] | null {
  if (text.length < 2 || text.length > 45) return null;
  const gap = text.indexOf('::');
  let groups: number[];
  if (gap < 0) {
    const all = groupsOf(text, true);
    if (all === null || all.length !== 8) return null;
    groups = all;
  } else {
    const before = groupsOf(text.slice(0, gap), false);
    const after = groupsOf(text.slice(gap + 2), true);
    if (before === null || after === null || before.length + after.length > 7) return null;
    groups = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  }
  const word = (index: number): number => (groups[index] as number) * 65536 + (groups[index + 1] as number);
  return [word(0), word(2), word(4), word(6)];
}
