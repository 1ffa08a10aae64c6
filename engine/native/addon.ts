// Finds and types the native addon (binding.cc says what is in it). Loaded on first use, so that a process that only
// reads types or runs the RE2 twin needs no native build.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Opaque handles; passing anything else where one is expected throws a TypeError. */
export interface NativeDatabase {
  readonly native: 'database';
}
export interface NativeScanner {
  readonly native: 'scanner';
}

/** The addon's exports. Strings are latin1 (one code unit per byte). Every function throws on a wrong argument. */
export interface NativeAddon {
  version(): string;
  platform(): string;
  checksum(bytes: Uint8Array): bigint;
  exitNow(code: number): never;
  trimHeap(): void;
  mapFile(path: string, bytes: number): ArrayBuffer;
  yieldToOthers(nice: number): void;
  openSharedSocket(host: string, port: number, backlog: number): number;
  duplicateSocket(fd: number): number;
  tellServiceManager(path: string, text: string, fds: readonly number[]): boolean;
  sendText(fd: number, text: string): number;
  compile(patterns: readonly string[], flags: Uint32Array, ids: Uint32Array): Uint8Array;
  load(bytes: Uint8Array, key: string): NativeDatabase;
  databaseBytes(database: NativeDatabase): number;
  databaseCount(): number;
  releaseDatabase(database: NativeDatabase): void;
  createScanner(databases: readonly NativeDatabase[]): NativeScanner;
  releaseScanner(scanner: NativeScanner): void;
  scan(scanner: NativeScanner, data: Uint8Array, jobs: Int32Array, jobCount: number, hits: Int32Array): number;
  sqli(value: string | Uint8Array): string;
  xss(value: string | Uint8Array): boolean;
}

/** The addon is not built, or a library it needs is not installed; the message says what to run. */
class NativeAddonMissing extends Error {}

let loaded: NativeAddon | null = null;

/** The addon, loaded once per thread. Throws NativeAddonMissing. */
export function nativeAddon(): NativeAddon {
  if (loaded !== null) return loaded;
  // This file runs as build/engine/native/addon.js; node-gyp writes below the source folder.
  const path = fileURLToPath(new URL('../../../engine/native/build/Release/gatehouse_native.node', import.meta.url));
  try {
    loaded = createRequire(import.meta.url)(path) as NativeAddon;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    throw new NativeAddonMissing(
      `The native addon cannot be loaded (${reason}). Build it with \`make setup\` ` +
        `(or \`npx node-gyp rebuild -C engine/native\`); it needs the packages libhyperscan-dev, g++, make, ` +
        'python3 and pkg-config.',
      { cause },
    );
  }
  return loaded;
}

/**
 * Ends the process with `code` (0–255) at once: no exit handlers, no destructors, no flushing, whatever other threads
 * do.
 * Throws TypeError on any other code, NativeAddonMissing without the addon.
 */
export function exitNow(code: number): never {
  return nativeAddon().exitNow(code);
}

/**
 * Gives memory that was freed back to the system: automata, regular expressions and caches live on the C heap, whose
 * threads each keep what they once had. Takes up to 30 ms; for quiet moments after a change. Does nothing without the
 * addon.
 */
export function giveBackMemory(): void {
  try {
    nativeAddon().trimHeap();
  } catch (error) {
    if (!(error instanceof NativeAddonMissing)) throw error;
  }
}

/**
 * Lowers the priority of the calling thread (Linux niceness, 0–19) for the rest of its life: where processors are
 * scarce, long work leaves them to the threads that serve. Throws TypeError on any other number; does nothing without
 * the addon.
 */
export function yieldToOthers(nice: number): void {
  try {
    nativeAddon().yieldToOthers(nice);
  } catch (error) {
    if (!(error instanceof NativeAddonMissing)) throw error;
  }
}

/**
 * Makes a file of `bytes` bytes (at most 16 MiB) that only this user may read, and returns memory that is its content:
 * what is stored there outlives this process, also where it is killed. For a path on a file system in memory
 * (`/dev/shm`); on another one a store may wait for the disk. null where it cannot be made: there is such a file, no
 * room, no such system, or no such addon. Throws TypeError on wrong arguments.
 */
export function mapFile(path: string, bytes: number): ArrayBuffer | null {
  try {
    const { mapFile: map }: Partial<NativeAddon> = nativeAddon();
    return map === undefined ? null : map(path, bytes); // absent: built from older sources
  } catch (error) {
    const isExpected = error instanceof NativeAddonMissing || (error as NodeJS.ErrnoException).code !== undefined;
    if (isExpected) return null;
    throw error;
  }
}

/**
 * Opens a TCP socket that listens on a port which other sockets of this user may listen on as well (SO_REUSEPORT), and
 * returns its number for `server.listen({ fd })`. Throws an Error whose `code` says why it cannot (EADDRINUSE, EACCES,
 * EADDRNOTAVAIL, ENOTFOUND), TypeError on wrong arguments, NativeAddonMissing without the addon.
 */
export function openSharedSocket(host: string, port: number, backlog: number): number {
  return nativeAddon().openSharedSocket(host, port, backlog);
}

/**
 * Another number of the same open socket, not inherited by programs that this one starts; the caller closes it. Throws
 * an Error with `code` (EBADF: no such number; EMFILE), TypeError on wrong arguments, NativeAddonMissing without the
 * addon.
 */
export function duplicateSocket(fd: number): number {
  return nativeAddon().duplicateSocket(fd);
}

/**
 * Sends a service manager a message (sd_notify(3): `NAME=value`, one a line) with open files beside it. `path` is what
 * NOTIFY_SOCKET names. True: it was taken. False: no manager is there, it is full, or this process has no addon. Never
 * waits. Throws TypeError on wrong arguments.
 */
export function tellServiceManager(path: string, text: string, fds: readonly number[] = []): boolean {
  try {
    const { tellServiceManager: tell }: Partial<NativeAddon> = nativeAddon();
    return tell?.(path, text, fds) ?? false;
  } catch (error) {
    if (error instanceof NativeAddonMissing) return false;
    throw error;
  }
}

/**
 * Writes latin1 text to a connected socket by one call of the system, without waiting. `(fd, text)` → bytes that the
 * system took, from the first on; 0: none of them, because the socket is full or broken, or the text has 32 KiB and
 * more. Throws TypeError on wrong arguments. null where there is no such function (no addon, or one of older sources).
 * The number must be that of an open socket at the moment of the call: another number may be anybody's by then.
 */
export function textSender(): ((fd: number, text: string) => number) | null {
  try {
    const { sendText }: Partial<NativeAddon> = nativeAddon();
    return sendText ?? null;
  } catch (error) {
    if (error instanceof NativeAddonMissing) return null;
    throw error;
  }
}
