// A node that starts asks its control plane before it takes requests, because it may have missed an apply while it was
// away: what was applied meanwhile is to serve from the first request on.
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { sayHello } from '../../records/hello.js';
import type { Tunnels } from '../../fleet/tunnels.js';
import type { Crashes } from '../crashes.js';
import type { Generations } from '../generations.js';
import type { DataPlaneOptions } from '../options.js';

/**
 * Longest wait of a node that has loaded what served last for the word of its control plane. One that is up answers
 * within milliseconds, and one that has to send a version needs as long as the workers take to load it.
 */
export const firstWordMsMax = 1_500;

const remindEveryMs = 60_000;
/** A control plane that takes no tunnel by then is told all the same, and may answer what is wrong. */
const tunnelMsMax = 15_000;

/**
 * A node that was away may have missed an apply. Before it takes requests it waits shortly: for the control plane to
 * say that all is well, to be away, or to have sent what serves now.
 */
export class FirstWord {
  private hasHeard = false;
  private end: () => void = () => {};

  /** `mostMs`: of each wait; 0: nothing is waited for. */
  constructor(private readonly mostMs: number) {}

  hear(): void {
    this.hasHeard = true;
    this.end();
  }

  /** Resolves with whether there was a word within the bound. */
  async wait(): Promise<boolean> {
    if (this.hasHeard || this.mostMs === 0) return this.hasHeard;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.mostMs);
      this.end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    return this.hasHeard;
  }
}

interface Known {
  readonly generations: Generations;
  readonly crashes: Crashes;
}

/** The control plane, as a node that starts sees it. */
export interface Control {
  readonly word: FirstWord;
  /** Asks it in the background, until it has answered; `tunnels`: by which it reaches this node, if not directly. */
  tell(tunnels: Pick<Tunnels, 'untilUp'> | null): Promise<void>;
  /** Waits within a bound for what it says first. */
  listen(): Promise<void>;
}

/** Who serves waits for no more than a first word, and who answers 503 asks until a generation was sent. */
export function controlOf(
  { shipping }: Pick<DataPlaneOptions, 'shipping'>,
  { generations, crashes }: Known,
  log: Logger,
  stop: AbortSignal,
): Control {
  const word = new FirstWord(shipping == null || crashes.wasSilent ? 0 : firstWordMsMax);
  let isAnswered = false;
  return {
    word,
    async tell(tunnels) {
      if (shipping == null) return;
      // told before, it would find a node that it cannot reach
      await tunnels?.untilUp(tunnelMsMax);
      const isWaiting = (): boolean => generations.closed !== null;
      const onFirstWord = (): void => word.hear();
      const answer = await sayHello({ node: hostname(), ...shipping, isWaiting, onFirstWord }, stop);
      isAnswered = true;
      if (!stop.aborted) crashes.noteSilence(false);
      log.info({ answer }, 'the control plane was told of the start');
    },
    async listen() {
      const hasSpoken = await word.wait();
      if (hasSpoken || isAnswered || shipping == null) return;
      crashes.noteSilence(true);
      log.warn(
        { waitedMs: crashes.wasSilent ? 0 : firstWordMsMax, generation: generations.active.id },
        'the control plane has not answered yet: what served last serves until it sends something else',
      );
    },
  };
}

/** An operator who looks into the log of a node that is closed for long must not have to look for its beginning. */
export function remindWhileClosed(generations: Generations, log: Logger, stop: AbortSignal): void {
  if (generations.closed === null) return;
  const sinceMs = performance.now();
  const timer = setInterval(() => {
    if (generations.closed === null) return clearInterval(timer);
    const seconds = Math.round((performance.now() - sinceMs) / 1000);
    log.error(
      { seconds },
      `protected sites still answer 503: ${generations.closed}; the control plane sent nothing yet`,
    );
  }, remindEveryMs).unref();
  stop.addEventListener('abort', () => clearInterval(timer));
}
