// @ts-check
// What tap asks of async-hook-domain and node:async_hooks, without hooks (fuse-tap.mjs puts it in their place): which
// test an uncaught error belongs to. The package follows every promise and every callback to know it, with a
// finalizer for each, and that was a tenth of the processor time of tests of the API. Here it is the test that began
// last and goes on: the tests of a file run one after another, and what one left behind and throws later fails the one
// that runs then.

/**
 * @typedef {'uncaughtException' | 'unhandledRejection'} Origin
 * @typedef {(error: any, origin: Origin) => unknown} OnError
 */

/** Of the tests that began and are not over, the innermost last. @type {Domain[]} */
const begun = [];
/** Those that run synchronously now, the innermost last. @type {AsyncResource[]} */
const running = [];
let open = 0;
const emit = process.emit;

/**
 * A handler that a file set itself is kept, as with the package.
 * @param {unknown} error
 * @param {Origin} origin
 */
function take(error, origin) {
  if (process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException') > 0) return false;
  const domain = begun.at(-1);
  if (domain === undefined) return false;
  try {
    domain.onerror(error, origin);
  } catch (thrown) {
    domain.destroy();
    if (!take(thrown, 'uncaughtException')) throw thrown;
  }
  return true;
}

/** Node goes on to end the process unless a callback takes the error. @param {unknown} error @param {Origin} origin */
function onUncaught(error, origin) {
  if (take(error, origin))
    process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null));
}

/** Unhandled rejections are looked at without a listener, which would count as handling them. */
function emitWatching(/** @type {string | symbol} */ event, /** @type {any[]} */ ...values) {
  const isOurs = event === 'unhandledRejection' && process.listenerCount(event) === 0;
  return isOurs ? take(values[0], event) : Reflect.apply(emit, process, [event, ...values]);
}

/** As tap uses it: one for each test, in which the domain of the test is made, and later the test begun. */
export class AsyncResource {
  /** @type {Domain | undefined} */
  domain;

  /**
   * @template T
   * @param {(...values: any[]) => T} run
   * @param {unknown} [self]
   * @param {...any} values
   * @returns {T}
   */
  runInAsyncScope(run, self, ...values) {
    this.domain?.begin();
    running.push(this);
    try {
      return Reflect.apply(run, self, values);
    } finally {
      running.pop();
    }
  }

  emitDestroy() {
    return this;
  }
}

export class Domain {
  #isOpen = true;

  /** @param {OnError} onerror */
  constructor(onerror) {
    this.onerror = onerror;
    const resource = running.at(-1);
    if (resource === undefined || resource.domain !== undefined) this.begin();
    else resource.domain = this;
    open += 1;
    if (open > 1) return;
    process.on('uncaughtExceptionMonitor', onUncaught);
    process.emit = /** @type {typeof process.emit} */ (emitWatching);
  }

  /** A second time, or after its end, does nothing. */
  begin() {
    if (this.#isOpen && !begun.includes(this)) begun.push(this);
  }

  /** A second time does nothing. */
  destroy() {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const at = begun.indexOf(this);
    if (at !== -1) begun.splice(at, 1);
    open -= 1;
    if (open > 0) return;
    process.off('uncaughtExceptionMonitor', onUncaught);
    process.emit = emit;
  }
}
