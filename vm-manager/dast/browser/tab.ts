// One page that is open: its requests are answered by the gate, and how long it is waited for is bounded.
import { setTimeout as pause } from 'node:timers/promises';
import { ScanOver, type Exchange } from '../model.js';
import { BrowserGone, type Cdp, type Fields } from './cdp.js';
import type { Gate, Met, Paused, Verdict } from './gate.js';

export interface TabParts {
  readonly cdp: Cdp;
  readonly targetId: string;
  readonly session: string;
  readonly gate: Gate;
  /** The answer that the page is made of. */
  readonly page: Exchange;
  readonly met: Met;
  readonly msMax: number;
}

const pollMs = 25;
/** So long nothing is asked: its scripts have done what they do at once. */
const quietMs = 200;
const settleMsMax = 4000;
const bindingName = 'gatehouseCalled';

export class Tab {
  /** The scan has ended while the page was open. */
  over: ScanOver | null = null;
  wasCalled = false;
  readonly #parts: TabParts;
  readonly #endsAt: number;
  #inFlight = 0;
  #busyAt = performance.now();
  #isLoaded = false;
  #hasDom = false;
  #isClosed = false;

  constructor(parts: TabParts) {
    this.#parts = parts;
    this.#endsAt = performance.now() + parts.msMax;
  }

  get session(): string {
    return this.#parts.session;
  }

  get hasTime(): boolean {
    return performance.now() < this.#endsAt && this.over === null;
  }

  async #send(method: string, params: Fields = {}): Promise<Fields> {
    const { cdp, session } = this.#parts;
    return cdp.send(method, params, session);
  }

  async prepare(script: string, cookies: readonly Fields[]): Promise<void> {
    await this.#send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
    await this.#send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 });
    await this.#send('Network.setBypassServiceWorker', { bypass: true });
    await this.#send('Page.enable');
    await this.#send('Page.addScriptToEvaluateOnNewDocument', { source: script });
    if (cookies.length > 0) await this.#send('Network.setCookies', { cookies });
  }

  /** Notes whether a function of this name is called. */
  async listenFor(name: string): Promise<void> {
    // only here: with it, all that a page writes to its console comes through the pipe
    await this.#send('Runtime.enable');
    await this.#send('Runtime.addBinding', { name: bindingName });
    const source = `window[${JSON.stringify(name)}] = () => window.${bindingName}('1')`;
    await this.#send('Page.addScriptToEvaluateOnNewDocument', { source });
  }

  /** Throws BrowserGone, also where the page is not there in its time. */
  async load(url: string): Promise<void> {
    [this.#isLoaded, this.#hasDom] = [false, false];
    // a document of the same address but for its hash would not be loaded anew
    if (this.#parts.met.sent.length > 0 || url.includes('#')) await this.#send('Page.navigate', { url: 'about:blank' });
    [this.#isLoaded, this.#hasDom] = [false, false];
    const { errorText } = (await this.#send('Page.navigate', { url })) as { errorText?: string };
    if (errorText !== undefined && errorText !== '') throw new BrowserGone(`The page did not open: ${errorText}`);
    this.#isLoaded = true;
    while (!this.#hasDom && this.hasTime) await pause(pollMs);
    await this.settle();
  }

  /** Until nothing is asked for a moment; four seconds at most. */
  async settle(): Promise<void> {
    const until = performance.now() + settleMsMax;
    this.#busyAt = performance.now();
    while (performance.now() < until && this.hasTime) {
      if (this.#inFlight === 0 && performance.now() - this.#busyAt >= quietMs) break;
      await pause(pollMs);
    }
    if (this.over !== null) throw this.over;
  }

  /** The value of an expression, as JSON holds it. Throws BrowserGone where the page does not answer. */
  async evaluate(expression: string): Promise<unknown> {
    if (!this.hasTime) throw this.over ?? new BrowserGone('The page took too long.');
    const { result, exceptionDetails } = (await this.#send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      timeout: 3000,
      userGesture: false,
    })) as { result?: { value?: unknown }; exceptionDetails?: { text?: string } };
    if (exceptionDetails !== undefined) throw new BrowserGone(`A script of the page failed: ${exceptionDetails.text}`);
    return result?.value;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#parts.cdp.send('Target.closeTarget', { targetId: this.#parts.targetId });
  }

  take(method: string, params: Fields): void {
    if (method === 'Fetch.requestPaused') void this.#answer(params as unknown as Paused);
    else if (method === 'Page.domContentEventFired') this.#hasDom = true;
    else if (method === 'Runtime.bindingCalled' && params['name'] === bindingName) this.wasCalled = true;
    else if (method === 'Page.javascriptDialogOpening')
      void this.#send('Page.handleJavaScriptDialog', { accept: params['type'] === 'beforeunload' }).catch(
        () => undefined,
      );
  }

  async #answer(paused: Paused): Promise<void> {
    const { gate, page, met, targetId } = this.#parts;
    this.#inFlight++;
    let verdict: Verdict = { fail: 'Aborted' };
    try {
      if (!this.#isClosed && this.over === null)
        verdict = await gate.answer(paused, page, targetId, this.#isLoaded, met);
    } catch (error) {
      if (error instanceof ScanOver) this.over = error;
    }
    this.#inFlight--;
    this.#busyAt = performance.now();
    const { requestId } = paused;
    await ('fulfil' in verdict
      ? this.#send('Fetch.fulfillRequest', { requestId, ...verdict.fulfil })
      : this.#send('Fetch.failRequest', { requestId, errorReason: verdict.fail })
    ).catch(() => undefined);
  }
}
