// Random texts for property tests of patterns: texts that probably match, and near misses. Not used outside tests.
import { bytesOf } from './byte-set.js';
import type { RegexNode } from './node.js';

/** A whole number from 0 to below − 1. */
export type Draw = (below: number) => number;

/** A small deterministic generator (xorshift32), so that a failing test can be run again with its seed. */
export function drawFrom(seed: number): Draw {
  let state = seed | 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** A text that matches `node` if its assertions happen to hold. Repetitions are kept short. */
function sampleText(node: RegexNode, draw: Draw): string {
  switch (node.kind) {
    case 'set': {
      const bytes = bytesOf(node.set);
      return bytes.length === 0 ? '' : String.fromCharCode(bytes[draw(bytes.length)]!);
    }
    case 'sequence':
      return node.items.map((item) => sampleText(item, draw)).join('');
    case 'alternation':
      return sampleText(node.items[draw(node.items.length)]!, draw);
    case 'group':
    case 'atomic':
      return sampleText(node.body, draw);
    case 'repeat': {
      const rounds = Math.min(node.max, node.min + draw(3));
      let text = '';
      for (let round = 0; round < rounds && text.length < 2000; round++) text += sampleText(node.body, draw);
      return text;
    }
    case 'assertion':
      return draw(4) === 0 ? '\n' : '';
    case 'lookaround':
    case 'unsupported':
      return '';
  }
}

const awkward = [
  '',
  '\n',
  '\n\n',
  ' ',
  'a',
  'A',
  '0',
  '_',
  '\0',
  '\v',
  '\x85',
  '\xa0',
  '\xe9',
  '\xff',
  '"',
  '\\',
  '\r\n',
  'K',
  'S',
];

/** A sample with pieces cut out, put in, in other case, or surrounded by noise. */
export function mutatedText(node: RegexNode, draw: Draw): string {
  let text = sampleText(node, draw);
  for (let round = draw(3); round > 0; round--) {
    const at = draw(text.length + 1);
    const piece = draw(2) === 0 ? awkward[draw(awkward.length)]! : String.fromCharCode(draw(256));
    const kind = draw(4);
    if (kind === 0) text = text.slice(0, at) + piece + text.slice(at);
    else if (kind === 1) text = text.slice(0, at) + text.slice(at + 1);
    else if (kind === 2) text = text.slice(0, at) + piece + text.slice(at + 1);
    else
      text =
        text.slice(0, at) +
        text.slice(at).replace(/[A-Za-z]/, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));
  }
  return awkward[draw(awkward.length)]! + text + awkward[draw(awkward.length)]!;
}
