// All networks of a place in an MMDB file (MaxMind DB file format 2.0): a walk over its search tree, a slice at a time.
// The library looks up single addresses; its reader decodes what a leaf says, once for each of a few thousand leaves'
// data.
import { setImmediate as turn } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import type { Reader, Response } from 'mmdb-lib';

export interface TreeToWalk {
  readonly reader: Reader<Response>;
  /** What the reader was made from. */
  readonly bytes: Buffer;
  /** The place by which a leaf is listed; null: it is not wanted. */
  readonly placeAt: (found: Response | null) => string | null;
  /** Of networks in all; beyond it the walk throws RangeError. */
  readonly most: number;
}

/** Four words of an address (IPv4: the last of them), and how many of its 128 bits the network has. */
type Block = readonly [word0: number, word1: number, word2: number, word3: number, depth: number];

/** Some 5 ms. */
const slice = 20_000;
const ipv4Depth = 96;

function leftAndRight(bytes: Buffer, recordSize: number): (node: number) => readonly [number, number] {
  if (recordSize === 24) return (node) => [bytes.readUIntBE(node * 6, 3), bytes.readUIntBE(node * 6 + 3, 3)];
  if (recordSize === 32) return (node) => [bytes.readUInt32BE(node * 8), bytes.readUInt32BE(node * 8 + 4)];
  return (node) => {
    const at = node * 7;
    const middle = bytes[at + 3] as number;
    return [((middle & 0xf0) << 20) | bytes.readUIntBE(at, 3), ((middle & 0x0f) << 24) | bytes.readUIntBE(at + 4, 3)];
  };
}

/** The block with the bit behind its last one set. */
function rightOf([a, b, c, d, depth]: Block): Block {
  const bit = (0x8000_0000 >>> (depth & 31)) >>> 0;
  const word = depth >>> 5;
  const add = (value: number, at: number): number => (word === at ? (value | bit) >>> 0 : value);
  return [add(a, 0), add(b, 1), add(c, 2), add(d, 3), depth + 1];
}

const isSame = (left: Block, right: Block): boolean => left.every((one, at) => one === right[at]);

/** Puts a block behind those before it in the order of addresses, joined with them where both make one network. */
function join(blocks: Block[], next: Block, shallowest: number): void {
  let last = next;
  for (;;) {
    const before = blocks.at(-1);
    const depth = last[4] - 1;
    if (before === undefined || before[4] !== last[4] || depth < shallowest) break;
    const parent: Block = [before[0], before[1], before[2], before[3], depth];
    if (!isSame(rightOf(parent), last)) break;
    blocks.pop();
    last = parent;
  }
  blocks.push(last);
}

function addressOf([a, b, c, d]: Block, isIpv4: boolean): string {
  const bytes = (isIpv4 ? [d] : [a, b, c, d]).flatMap((word) => [24, 16, 8, 0].map((by) => (word >>> by) & 255));
  return ipaddr.fromByteArray(bytes).toString();
}

function textOf(block: Block, isIpv4: boolean): string {
  const width = isIpv4 ? 32 : 128;
  const bits = block[4] - (isIpv4 ? ipv4Depth : 0);
  return `${addressOf(block, isIpv4)}${bits === width ? '' : `/${bits}`}`;
}

interface Part {
  readonly root: number;
  readonly from: Block;
  readonly isIpv4: boolean;
  /** A node whose addresses are listed by another part; -1: none. */
  readonly besides: number;
}

/** IPv4, then IPv6 without the aliases of IPv4 (`::/96`, `::ffff:0:0/96`, `2002::/16`, `2001::/32`). */
function partsOf(reader: Reader<Response>, children: (node: number) => readonly [number, number]): Part[] {
  const { ipVersion, nodeCount } = reader.metadata;
  const atIpv4: Block = [0, 0, 0, 0, ipv4Depth];
  if (ipVersion === 4) return [{ root: 0, from: atIpv4, isIpv4: true, besides: -1 }];
  let start = 0;
  let depth = 0;
  for (; depth < ipv4Depth && start < nodeCount; depth += 1) start = children(start)[0];
  const all: Part = { root: 0, from: [0, 0, 0, 0, 0], isIpv4: false, besides: start < nodeCount ? start : -1 };
  return start < nodeCount ? [{ root: start, from: atIpv4, isIpv4: true, besides: -1 }, all] : [all];
}

/** Places that have no network have no entry. */
export async function networksBy(tree: TreeToWalk): Promise<Map<string, string[]>> {
  const { reader, bytes, placeAt, most } = tree;
  const { nodeCount, recordSize } = reader.metadata;
  const children = leftAndRight(bytes, recordSize);
  const placeOfData = new Map<number, string | null>();
  const found = new Map<string, string[]>();
  let count = 0;
  let steps = 0;
  for (const { root, from, isIpv4, besides } of partsOf(reader, children)) {
    const blocksOf = new Map<string, Block[]>();
    const waiting: (readonly [record: number, block: Block])[] = [[root, from]];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if ((steps += 1) % slice === 0) await turn();
      const [record, block] = next;
      if (record === nodeCount || record === besides) continue;
      if (record < nodeCount) {
        if (block[4] >= 128) throw new Error('has a tree that is too deep');
        const [left, right] = children(record);
        const [a, b, c, d, depth] = block;
        waiting.push([right, rightOf(block)], [left, [a, b, c, d, depth + 1]]);
        continue;
      }
      let place = placeOfData.get(record);
      if (place === undefined) placeOfData.set(record, (place = placeAt(reader.get(addressOf(block, isIpv4)))));
      if (place === null) continue;
      const blocks = blocksOf.get(place) ?? [];
      blocksOf.set(place, blocks);
      join(blocks, block, from[4] + 1);
      if ((count += 1) > most * 2) throw new RangeError(`These places have more than ${most} networks.`);
    }
    for (const [place, blocks] of blocksOf) {
      const texts = found.get(place) ?? [];
      for (const block of blocks) {
        if ((steps += 1) % slice === 0) await turn();
        texts.push(textOf(block, isIpv4));
      }
      found.set(place, texts);
    }
  }
  const all = [...found.values()].reduce((sum, { length }) => sum + length, 0);
  if (all > most) throw new RangeError(`These places have ${all} networks; at most ${most} can be in force.`);
  return found;
}
