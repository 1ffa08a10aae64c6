// Events as they come, over one stream. They are handed on at most five times a second, so that two hundred events a
// second are five changes of the page; while the page is paused or hidden they wait, and only so many of them.
import { createSignal, onCleanup, onMount, type Accessor } from 'solid-js';
import { call, linkTo } from '../../client/http.js';
import type { Filters } from '../../kit/filter-bar.js';
import type { SecurityEvent } from './events.js';

export interface LiveOptions {
  readonly filters: Accessor<Filters>;
  readonly isPaused: Accessor<boolean>;
  /** Newest first. */
  readonly onEvents: (events: readonly SecurityEvent[]) => void;
  /** The stream was away: what came meanwhile is not in it. */
  readonly onGap: () => void;
}

/** `connecting`: no connection has been there yet, so that none was lost. */
export type LiveState = 'connecting' | 'live' | 'reconnecting';

const handOnMs = 200;
const againMs = 3000;
const waitingMax = 5000;

/** As the control plane filters the list. What is new lies behind `to`, so a view with an end stays still. */
export function isWanted(event: SecurityEvent, filters: Filters): boolean {
  const { q, to, from, rule_id, status, range: _range, verdict, category, path, asn, ...texts } = filters;
  if (to !== undefined || (from !== undefined && event.at < from)) return false;
  if (q !== undefined && !event.uri.toLowerCase().includes(q.toLowerCase())) return false;
  if (rule_id !== undefined && String(event.rule_id) !== rule_id) return false;
  if (status !== undefined && String(event.status) !== status) return false;
  if (verdict !== undefined && !verdict.split(',').includes(event.verdict)) return false;
  if (category !== undefined && !category.split(',').includes(event.summary.category)) return false;
  if (path !== undefined && event.path_template !== path) return false;
  if (asn !== undefined && String(event.asn) !== asn) return false;
  const fields = event as unknown as Readonly<Record<string, unknown>>;
  return Object.entries(texts).every(([name, value]) => fields[name] === value);
}

/** What the stream is, after it was `was` and opened or failed. */
export const stateAfter = (was: LiveState, isOpen: boolean): LiveState => {
  if (isOpen) return 'live';
  return was === 'connecting' ? 'connecting' : 'reconnecting';
};

/**
 * The stream, for as long as it is wanted. After a loss of the connection the browser goes on by itself from the last
 * id. After a refusal (a session that ended) it gives up: then another request brings up the login, and the stream is
 * opened anew until it is let in.
 */
function openStream(onState: (isOpen: boolean) => void, onGap: () => void, onEvent: (event: SecurityEvent) => void) {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = (isAgain: boolean): void => {
    const mine = new EventSource(linkTo('GET /api/events/stream'));
    source = mine;
    mine.onopen = () => {
      onState(true);
      if (isAgain) onGap();
    };
    mine.onerror = () => {
      onState(false);
      if (mine.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(() => open(true), againMs);
      void call('GET /api/events', { query: { limit: 1 } }).catch(() => null); // says itself that the session ended
    };
    mine.addEventListener('security', (message: MessageEvent<string>) =>
      onEvent(JSON.parse(message.data) as SecurityEvent),
    );
  };
  open(false);
  return {
    close: () => {
      clearTimeout(timer);
      source?.close();
    },
  };
}

export function createLive({ filters, isPaused, onEvents, onGap }: LiveOptions) {
  const [state, setState] = createSignal<LiveState>('connecting');
  const [waiting, setWaiting] = createSignal(0);
  let queue: SecurityEvent[] = [];
  const handOn = (): void => {
    setWaiting(queue.length);
    if (isPaused() || queue.length === 0) return;
    const events = queue.filter((event) => isWanted(event, filters())).reverse();
    queue = [];
    setWaiting(0);
    if (events.length > 0) onEvents(events);
  };
  onMount(() => {
    const stream = openStream(
      (isOpen) => setState((was) => stateAfter(was, isOpen)),
      onGap,
      (event) => {
        queue.push(event);
        if (queue.length > waitingMax) queue.splice(0, queue.length - waitingMax);
      },
    );
    const timer = setInterval(handOn, handOnMs);
    onCleanup(() => {
      stream.close();
      clearInterval(timer);
    });
  });
  return { state, waiting };
}
