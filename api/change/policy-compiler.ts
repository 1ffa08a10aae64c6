// The control plane's side of the compile process: started when first needed, replaced when it dies, ended when it has
// been idle (a compile at high paranoia leaves hundreds of megabytes behind).
import type { RuleSettings } from '#settings';
import { ApiError } from '../http-kit/index.js';
import { heapMbMax, startCompileChild, type CompileChild } from './compile-child.js';
import type {
  CompiledPolicy,
  CompileStart,
  Failure,
  FromCompileProcess,
  ReplayRequest,
  CompileQuestion,
  TryRequest,
} from './compile-messages.js';
import type { ApplyDiagnostic, ReplayImpact } from './contract.js';
import type { Outcome } from './replay.js';

export interface Compiled extends CompiledPolicy {
  readonly kind: 'compiled';
  /** Settles when the artifact is on disk, flushed: nobody may be sent to it before. */
  readonly stored: Promise<void>;
}
export type CompileResult = Compiled | { readonly kind: 'refused'; readonly diagnostics: readonly ApplyDiagnostic[] };

export interface PolicyCompiler {
  /**
   * Rejects when the process dies, and with `busy` (503) when it takes too long; what is wrong with the settings is a
   * result. `anew`: even if this policy was compiled before.
   */
  compile(policy: RuleSettings, anew?: boolean): Promise<CompileResult>;
  /** null when an artifact is not on this machine, or of another release. */
  replay(request: ReplayRequest): Promise<ReplayImpact | null>;
  /** What an artifact makes of single requests, in their order; null when it is not on this machine. */
  tryOut(request: TryRequest): Promise<readonly Outcome[] | null>;
  /** From now on others go first (`keepsPriority` until then). */
  giveWay(): void;
  close(): Promise<void>;
}

export interface PolicyCompilerOptions extends CompileStart {
  /** An unpacked OWASP CRS release; a function is asked at every compile. */
  readonly crsDirectory: string | (() => string);
  /** A compile that takes longer, from when its turn came, is given up with its process. */
  readonly timeoutMs?: number;
  /** Calls `ring` after so many milliseconds, unless what it returns is called before. */
  readonly setAlarm?: (ms: number, ring: () => void) => () => void;
  readonly idleMs?: number;
  /** Of JavaScript's heap; what needs more is refused. */
  readonly heapMb?: number;
}

const closing = 'the server is closing';

/** What the system said of it stays with the error: of a full disk the caller is told, of a bug the log. */
const errorOf = ({ reason, code }: Failure): Error => Object.assign(new Error(reason), code === null ? {} : { code });

function tookTooLong(timeoutMs: number): ApiError {
  return new ApiError(
    'busy',
    `Compiling the rules took longer than ${timeoutMs / 1000} s and was given up: the machine has too much to do. ` +
      'What was compiled until then is kept, so send the same again; it goes on from there.',
    { headers: { 'retry-after': '10' } },
  );
}

function setTimer(ms: number, ring: () => void): () => void {
  const timer = setTimeout(ring, ms);
  return () => clearTimeout(timer);
}

interface Heard {
  readonly reply: FromCompileProcess;
  /** Settles when the artifact of a compile is on disk. */
  readonly stored: Promise<void>;
}

interface Waiting {
  readonly message: CompileQuestion;
  /** Only of the one whose turn it is. */
  cancelAlarm: (() => void) | null;
  readonly resolve: (heard: Heard) => void;
  readonly reject: (error: Error) => void;
}

export function createPolicyCompiler(options: PolicyCompilerOptions): PolicyCompiler {
  const compiling = new Compiling(options);
  const { crsDirectory: named } = options;
  const unexpected = (reply: FromCompileProcess): Error =>
    reply.kind === 'failed' ? errorOf(reply) : new Error('the compile process answered another question');
  return {
    async compile(policy, anew = false) {
      const crsDirectory = typeof named === 'string' ? named : named();
      const { reply, stored } = await compiling.ask((token) => ({
        kind: 'compile',
        token,
        policy,
        crsDirectory,
        anew,
      }));
      if (reply.kind === 'refused') return reply;
      if (reply.kind === 'compiled') return { ...reply, stored };
      throw unexpected(reply);
    },
    async replay(request) {
      const { reply } = await compiling.ask((token) => ({ kind: 'replay', token, request }));
      if (reply.kind === 'replayed') return reply.impact;
      throw unexpected(reply);
    },
    async tryOut(request) {
      const { reply } = await compiling.ask((token) => ({ kind: 'try', token, request }));
      if (reply.kind === 'tried') return reply.outcomes;
      throw unexpected(reply);
    },
    giveWay: () => compiling.giveWay(),
    close: () => compiling.close(),
  };
}

class Compiling {
  private readonly waiting = new Map<number, Waiting>();
  /** Artifacts on their way to the disk. */
  private readonly stores = new Map<
    number,
    { readonly resolve: () => void; readonly reject: (error: Error) => void }
  >();
  private child: CompileChild | null = null;
  private tokens = 0;
  private idle: NodeJS.Timeout | null = null;
  private isClosed = false;

  private keepsPriority: boolean;

  constructor(private readonly options: PolicyCompilerOptions) {
    this.keepsPriority = options.keepsPriority ?? false;
  }

  giveWay(): void {
    if (!this.keepsPriority) return;
    this.keepsPriority = false;
    this.child?.send({ kind: 'give-way' });
  }

  ask(message: (token: number) => CompileQuestion): Promise<Heard> {
    // whoever was still reading the database when the server closed must not start a process that nobody ends
    if (this.isClosed) return Promise.reject(new Error(closing));
    const token = ++this.tokens;
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { message: message(token), cancelAlarm: null, resolve, reject };
      this.waiting.set(token, waiting);
      try {
        this.send(waiting);
      } catch (error) {
        this.waiting.delete(token);
        throw error;
      }
    });
  }

  private send({ message }: Waiting): void {
    if (this.idle !== null) clearTimeout(this.idle);
    const mine = (this.child ??= this.begin());
    mine.hold(true);
    mine.send(message);
  }

  /** The time of a question begins with its turn: behind a warm-up on a busy machine it would be over before. */
  private watch(mine: CompileChild, token: number): void {
    const asked = this.waiting.get(token);
    if (asked === undefined) return;
    const { timeoutMs = 180_000, setAlarm = setTimer } = this.options;
    asked.cancelAlarm = () => undefined; // begun, whenever the alarm rings
    asked.cancelAlarm = setAlarm(timeoutMs, () => {
      this.abandon(mine, tookTooLong(timeoutMs));
      void mine.end();
    });
  }

  private settle(token: number): Waiting | undefined {
    const asked = this.waiting.get(token);
    asked?.cancelAlarm?.();
    this.waiting.delete(token);
    return asked;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (this.idle !== null) clearTimeout(this.idle);
    const last = this.child;
    if (last === null) return;
    this.abandon(last, new Error(closing));
    await last.end();
  }

  private begin(): CompileChild {
    const { unicodeMapping, artifactsDirectory, cacheDirectory, threads } = this.options;
    const { keepsPriority } = this;
    const start: CompileStart = { unicodeMapping, artifactsDirectory, cacheDirectory, threads, keepsPriority };
    return startCompileChild(
      start,
      {
        onMessage: (from, reply) => this.hear(from, reply),
        onEnd: (gone, error) => this.abandon(gone, error),
      },
      this.options.heapMb ?? heapMbMax,
    );
  }

  private hear(from: CompileChild, reply: FromCompileProcess): void {
    if (this.child !== from) return; // it was given up, and what it had left to do is asked of another one
    if (reply.kind === 'begun') return this.watch(from, reply.token);
    if (reply.kind === 'stored') {
      const store = this.stores.get(reply.token);
      this.stores.delete(reply.token);
      if (reply.problem === null) store?.resolve();
      else store?.reject(errorOf(reply.problem));
    } else {
      // made here: the message that it is stored may be the next of the same read, before anybody who waits runs
      const stored = reply.kind === 'compiled' ? this.expectStored(reply.token) : Promise.resolve();
      this.settle(reply.token)?.resolve({ reply, stored });
    }
    if (this.waiting.size === 0 && this.stores.size === 0) this.rest(from);
  }

  private expectStored(token: number): Promise<void> {
    let [resolve, reject]: [() => void, (error: Error) => void] = [() => undefined, () => undefined];
    const done = new Promise<void>((yes, no) => ([resolve, reject] = [yes, no]));
    done.catch(() => undefined); // whoever goes on to use the artifact awaits it and hears
    this.stores.set(token, { resolve, reject });
    return done;
  }

  /**
   * The question that a process was at when it went hears of it, and so do artifacts on their way to the disk. Those
   * that had not begun are no part of what went wrong: they are asked of the next one. Where none had begun,
   * the process could not start or is not to go on, and all hear of it.
   */
  private abandon(gone: CompileChild, error: Error): void {
    if (this.child !== gone) return;
    this.child = null;
    const begun = [...this.waiting].flatMap(([token, { cancelAlarm }]) => (cancelAlarm === null ? [] : [token]));
    const lost = this.isClosed || begun.length === 0 ? [...this.waiting.keys()] : begun;
    for (const token of lost) this.settle(token)?.reject(error);
    for (const { reject } of this.stores.values()) reject(error);
    this.stores.clear();
    for (const behind of this.waiting.values()) this.send(behind);
  }

  /** Nothing to do: it must not keep the process alive, and after a while it goes. */
  private rest(resting: CompileChild): void {
    resting.hold(false);
    this.idle = setTimeout(() => {
      if (this.child !== resting || this.waiting.size + this.stores.size > 0) return;
      this.child = null;
      void resting.end();
    }, this.options.idleMs ?? 600_000);
    this.idle.unref();
  }
}
