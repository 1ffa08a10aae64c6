// A node that starts tells its control plane so: what was applied while it was away comes at once, and not with the
// next look that the control plane takes by itself.
import { ControlPlaneClient, type ControlPlaneAddress } from './control-plane-client.js';

const answerMsMax = 60_000; // it may have to compile
const attempts = 5;
const pauseMs = 1000;

export interface HelloOptions extends ControlPlaneAddress {
  readonly node: string;
  /** Whether the node answers 503 until the control plane sends something: then it asks until that has. */
  readonly isWaiting?: () => boolean;
  /** The first attempt is over, whatever became of it: a control plane that is away is not waited for. */
  readonly onFirstWord?: () => void;
}

/**
 * Resolves with what the control plane says of its nodes, or why it says nothing: it is away (then it looks at every
 * node when it comes), or of an older release, or `stop` ended the wait. Never rejects.
 */
export async function sayHello(
  { node, isWaiting = () => false, onFirstWord = () => {}, ...address }: HelloOptions,
  stop: AbortSignal,
): Promise<string> {
  const client = new ControlPlaneClient(address, answerMsMax);
  try {
    for (let attempt = 1; ; attempt += 1) {
      const { status, text } = await client.post('/api/dataplane/hello', JSON.stringify({ node }), stop);
      if (attempt === 1) onFirstWord();
      if (status === 200) return text;
      const isWorthAgain = status === 0 || status >= 500;
      const isEnough = attempt >= attempts && !isWaiting();
      if (!isWorthAgain || isEnough || stop.aborted) return `no answer: ${status === 0 ? text : status}`;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs);
        stop.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  } finally {
    client.close();
  }
}
