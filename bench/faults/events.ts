// What happens to the parts, in a random order that a seed decides: each kind before any comes again.
import { setTimeout as pause } from 'node:timers/promises';
import type { Part } from './parts.js';
import type { PostgresPair, RedisSet } from './servers.js';

export interface Installation {
  readonly nodes: readonly Part[];
  readonly controls: readonly Part[];
  readonly postgres: PostgresPair;
  readonly redis: RedisSet;
  /** Control planes know both servers of PostgreSQL. */
  readonly canFailOver: boolean;
}

export interface Happening {
  readonly name: string;
  /** Of a process of a data plane that was killed: when. */
  readonly nodeKilled?: { readonly node: string; readonly atMs: number };
  /** Redis, or the way to it, was away meanwhile. */
  readonly touchesRedis?: boolean;
  /** Brings back what is away, and resolves when its process has been started. */
  bringBack(): Promise<void>;
  /** What the next fault waits for. */
  readonly isBack?: Promise<void>;
}

export type Random = () => number;

/** Numbers in [0, 1) that depend on the seed alone (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const oneOf = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;

async function killed(part: Part, touchesRedis = false): Promise<Happening> {
  await part.kill();
  return { name: `${part.name} killed`, touchesRedis, bringBack: async () => part.begin() };
}

/** The fleet has the other one meanwhile: it has to be one soon after this one answers. */
async function controlKilled(control: Part): Promise<Happening> {
  await control.kill();
  return { name: `${control.name} killed`, bringBack: () => control.start() };
}

/** The process that serves, of the two that a data plane is; the other one starts it again. */
async function nodeCrashed(node: Part): Promise<Happening> {
  const [supervisor, serving] = node.pids();
  const atMs = Date.now();
  const crashed = { name: `${node.name} crashed`, nodeKilled: { node: node.name, atMs } };
  const dying = serving ?? supervisor;
  if (dying !== undefined) process.kill(dying, 'SIGKILL');
  return { ...crashed, bringBack: async () => (serving === undefined ? node.begin() : undefined) };
}

async function nodeKilled(node: Part): Promise<Happening> {
  const atMs = Date.now();
  await node.kill();
  const name = `${node.name} killed with its supervisor`;
  return { name, nodeKilled: { node: node.name, atMs }, bringBack: async () => node.begin() };
}

async function cutOff(part: Part, touchesRedis = false): Promise<Happening> {
  part.setLink(false);
  return { name: `${part.name} cut off`, touchesRedis, bringBack: async () => part.setLink(true) };
}

async function primaryKilled({ postgres }: Installation): Promise<Happening> {
  const part = postgres.parts[postgres.primary] as Part;
  await part.kill();
  return {
    name: `${part.name}, the primary, killed`,
    bringBack: () => part.start().then(() => postgres.untilThere(postgres.primary)),
  };
}

/** Promotes at once where the replica is known to have everything, as Patroni does; else the old one comes back. */
async function failedOver(installation: Installation): Promise<Happening> {
  const { postgres } = installation;
  if (!postgres.isSynchronous || !installation.canFailOver) return primaryKilled(installation);
  const old = postgres.primary;
  await postgres.parts[old]?.kill();
  await pause(1000);
  await postgres.promote();
  const name = `pg${old + 1}, the primary, killed, pg${postgres.primary + 1} promoted`;
  // the fleet has to be one by the new primary alone: the old one takes its time to become a replica
  const isBack = postgres.followAnew(old).then(() => postgres.waitSynchronous());
  isBack.catch(() => undefined); // whoever waits hears
  return { name, bringBack: async () => undefined, isBack };
}

async function replicaKilled({ postgres }: Installation): Promise<Happening> {
  const part = postgres.parts[1 - postgres.primary] as Part;
  await part.kill();
  await pause(500);
  await postgres.setSynchronous(false);
  const bringBack = (): Promise<void> => part.start().then(() => postgres.waitSynchronous());
  return { name: `${part.name}, the replica, killed`, bringBack };
}

type Kind = (installation: Installation, random: Random) => Promise<Happening>;

const kinds: readonly Kind[] = [
  ({ nodes }, random) => nodeCrashed(oneOf(random, nodes)),
  ({ nodes }, random) => nodeKilled(oneOf(random, nodes)),
  ({ controls }, random) => controlKilled(oneOf(random, controls)),
  ({ controls }, random) => cutOff(oneOf(random, controls)),
  primaryKilled,
  failedOver,
  replicaKilled,
  ({ postgres }) => cutOff(postgres.parts[postgres.primary] as Part),
  ({ redis }, random) => killed(oneOf(random, redis.servers), true),
  ({ redis }, random) => cutOff(oneOf(random, redis.servers), true),
  ({ redis }, random) => killed(oneOf(random, redis.sentinels)),
];

/** Each call makes the next one happen. */
export function happenings(installation: Installation, random: Random): () => Promise<Happening> {
  let left: Kind[] = [];
  return () => {
    if (left.length === 0) left = [...kinds];
    const [kind] = left.splice(Math.floor(random() * left.length), 1);
    return (kind as Kind)(installation, random);
  };
}
