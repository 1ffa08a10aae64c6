// Events as they come, over one stream. They are handed on at most five times a second, so that two hundred events a
// second are five changes of the page; while the page is paused or hidden they wait, and only so many of them.
import { createSignal, onCleanup, onMount, type Accessor } from 'solid-js';
import { linkTo } from '../../client/http.js';
import type { Filters } from '../../kit/filter-bar.js';
import type { SecurityEvent } from './events.js';

export interface LiveOptions {
  readonly filters: Accessor<Filters>;
  readonly isPaused: Accessor<boolean>;
  /** Newest first. */
  readonly onEvents: (events: readonly SecurityEvent[]) => void;
}

const handOnMs = 200;
const waitingMax = 5000;

/** As the control plane filters the list. What is new lies behind `to`, so a view with an end stays still. */
export function isWanted(event: SecurityEvent, filters: Filters): boolean {
  const { q, to, from, rule_id, status, ...texts } = filters;
  if (to !== undefined || (from !== undefined && event.at < from)) return false;
  if (q !== undefined && !event.uri.toLowerCase().includes(q.toLowerCase())) return false;
  if (rule_id !== undefined && String(event.rule_id) !== rule_id) return false;
  if (status !== undefined && String(event.status) !== status) return false;
  const fields = event as unknown as Readonly<Record<string, unknown>>;
  return Object.entries(texts).every(([name, value]) => fields[name] === value);
}

export function createLive({ filters, isPaused, onEvents }: LiveOptions) {
  const [isConnected, setConnected] = createSignal(false);
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
    const source = new EventSource(linkTo('GET /api/events/stream'));
    source.onopen = () => setConnected(true);
    source.onerror = () => setConnected(false); // the browser tries again by itself, from the last id
    source.addEventListener('security', (message: MessageEvent<string>) => {
      queue.push(JSON.parse(message.data) as SecurityEvent);
      if (queue.length > waitingMax) queue.splice(0, queue.length - waitingMax);
    });
    const timer = setInterval(handOn, handOnMs);
    onCleanup(() => {
      source.close();
      clearInterval(timer);
    });
  });
  return { isConnected, waiting };
}
