// An upgrade puts other files in the place of those that an open page began with: a part that is only loaded now
// (another page, an editor) is gone then. Whoever sits before the page is told so, and decides when to load it again.
import { createSignal } from 'solid-js';

const [isReplaced, setReplaced] = createSignal(false);
/** The server no longer has the files that this page began with. */
export { isReplaced };

const lost = new WeakSet<object>();

/** Whether an error says that a part of the console could not be loaded, whatever the reason. */
export const isOfLostPart = (error: unknown): boolean => typeof error === 'object' && error !== null && lost.has(error);

/**
 * Whether the script that the page began with is gone. Its name changes with each bundle, also where only another part
 * has changed, because it names the others. A server that does not answer has replaced nothing.
 */
async function isScriptGone(): Promise<boolean> {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]');
  if (script === null) return false;
  const answer = await fetch(script.src, { method: 'HEAD', cache: 'no-store' }).catch(() => null);
  return answer?.status === 404;
}

/** Vite tells of each part that could not be loaded; the error itself goes to whoever asked for the part. */
export function watchForUpdates(): void {
  window.addEventListener('vite:preloadError', (event) => {
    const { payload } = event as Event & { readonly payload?: unknown };
    if (typeof payload === 'object' && payload !== null) lost.add(payload);
    void isScriptGone().then((isGone) => isGone && setReplaced(true));
  });
}
