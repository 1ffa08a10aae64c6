// One part of `up` in a process of its own, with a process group of its own: Ctrl-C reaches only who supervises.
import { spawn, type ChildProcess } from 'node:child_process';
import { program, root, shown } from '../environment/directories.js';
import { Refusal } from '../refusal.js';
import type { HeldSockets } from './held-sockets.js';
import { LogFile } from './log-file.js';

const healthMsMax = 180_000; // a child that ends is noticed at once; this is for one that hangs, not for a slow machine
const stopMsMax = 15_000;
/** While it is away for so long, clients wait for it; then they are refused, as where nobody holds its sockets. */
const heldMsMax = 30_000;
const lastWordsMax = 12;
const wordCharactersMax = 400;

export interface FirstLogin {
  readonly email: string;
  readonly password: string;
}

/** What a child says over its channel when it serves. */
export interface Ready {
  readonly kind: 'ready';
  /** Of the control plane. */
  readonly url?: string;
  readonly firstLogin?: FirstLogin | null;
  /** Of the sockets that it was handed, those that it does not listen on. */
  readonly unusedSockets?: readonly string[];
}

/** Tells whoever started this process that it serves; nothing where nobody listens. */
export function sayReady(more: Readonly<Record<string, unknown>> = {}): void {
  process.send?.({ kind: 'ready', ...more });
}

function isReady(message: unknown): message is Ready {
  return typeof message === 'object' && message !== null && (message as Partial<Ready>).kind === 'ready';
}

export interface ChildOptions {
  readonly name: string;
  /** Of `bin/gatehouse`. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
  /** What it listens on, asked before its first start: held here until it is stopped. */
  readonly holdSockets?: () => HeldSockets | null;
  /** For tests; milliseconds that clients wait for one that is away, and in which a start has to be ready. */
  readonly heldMsMax?: number;
  readonly readyMsMax?: number;
}

export class Child {
  readonly name: string;
  readonly logFile: string;
  /** Of the next start. */
  args: readonly string[];
  isStopping = false;
  onExit: (reason: number | string) => void = () => {};
  private readonly env: NodeJS.ProcessEnv;
  private process: ChildProcess | null = null;
  /** Of the last start. */
  private log: LogFile | null = null;
  private logged: Promise<void> = Promise.resolve();

  private readonly holdSockets: () => HeldSockets | null;
  /** undefined: to be opened with the next start. */
  private held: HeldSockets | null | undefined;
  private readonly heldMsMax: number;
  private readonly readyMsMax: number;
  /** Runs while it is away. */
  private lettingGo: NodeJS.Timeout | undefined;
  private hasLetGo = false;

  constructor(options: ChildOptions) {
    const { name, args, env, logFile, holdSockets = () => null } = options;
    this.holdSockets = holdSockets;
    this.heldMsMax = options.heldMsMax ?? heldMsMax;
    this.readyMsMax = options.readyMsMax ?? healthMsMax;
    this.name = name;
    this.args = args;
    this.env = env;
    this.logFile = logFile;
  }

  /** Resolves when it has said that it is ready; rejects with a Refusal when it ends or stays silent. */
  start(): Promise<Ready> {
    const log = new LogFile(this.logFile, (text) => console.error(`gatehouse: ${text}`));
    this.log = log;
    if (this.held === undefined) this.held = this.holdSockets();
    const numbers = this.held?.numbers ?? [];
    const child = spawn(process.execPath, [program, ...this.args], {
      cwd: root,
      env: { ...this.env, ...this.held?.env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', ...numbers],
      detached: true,
    });
    this.process = child;
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => log.write(chunk));
    // what it said last may still be on its way when it has ended
    this.logged = new Promise((settle) => {
      child.once('close', () => {
        log.close();
        settle();
      });
    });
    child.on('exit', (code, signal) => {
      this.process = null;
      this.letGoLater();
      this.onExit(code ?? signal ?? 'nothing');
    });
    return this.ready(child, numbers.length > 0);
  }

  private ready(child: ChildProcess, hasSockets: boolean): Promise<Ready> {
    return new Promise((settle, refuse) => {
      const timer = setTimeout(() => {
        refuse(new Refusal(`${this.name} did not become ready in ${this.readyMsMax / 1000} s.\n${this.lastWords()}`));
        // It has sockets on which clients wait: nothing but its end frees them.
        if (hasSockets) child.kill('SIGKILL');
      }, this.readyMsMax);
      child.on('message', (message) => {
        if (!isReady(message)) return;
        clearTimeout(timer);
        this.serves(message);
        settle(message);
      });
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        void this.logged.then(() =>
          refuse(new Refusal(`${this.name} ended with ${code ?? signal} while starting.\n${this.lastWords()}`)),
        );
      });
    });
  }

  private serves({ unusedSockets = [] }: Ready): void {
    clearTimeout(this.lettingGo);
    this.lettingGo = undefined;
    this.held?.drop(unusedSockets);
    if (this.hasLetGo) this.held = undefined;
    this.hasLetGo = false;
  }

  /** One that does not come back must not leave clients waiting for ever: balancers would not see that it is away. */
  private letGoLater(): void {
    if (this.isStopping || this.lettingGo !== undefined || (this.held?.numbers.length ?? 0) === 0) return;
    this.lettingGo = setTimeout(() => {
      console.error(
        `gatehouse: ${this.name} has been away for ${this.heldMsMax / 1000} s; clients are refused until it serves`,
      );
      this.held?.close();
      this.held = null;
      this.hasLetGo = true;
    }, this.heldMsMax).unref();
  }

  private lastWords(): string {
    const text = this.log?.lastWords ?? '';
    const lines = text === '' ? [] : text.split('\n').slice(-lastWordsMax);
    const words = lines.map((line) => `    ${line.slice(0, wordCharactersMax)}`);
    return `  Its last words (${shown(this.logFile)}):\n${words.join('\n')}`;
  }

  /** Where it runs. */
  signal(signal: NodeJS.Signals): void {
    this.process?.kill(signal);
  }

  /** Asks it to end, and ends it when it takes too long. */
  stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.lettingGo);
    this.held?.close(); // who connects from now on is to be told so
    this.held = null;
    const child = this.process;
    if (child === null) return Promise.resolve();
    return new Promise((settle) => {
      const timer = setTimeout(() => {
        console.log(`${this.name} did not stop in ${stopMsMax / 1000} s; ending it`);
        child.kill('SIGKILL');
      }, stopMsMax);
      child.once('exit', () => {
        clearTimeout(timer);
        settle();
      });
      child.kill('SIGTERM');
    });
  }
}
