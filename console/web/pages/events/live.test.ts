import t from 'tap';
import { stateAfter, type LiveState } from './live.js';

const roads: readonly (readonly [string, readonly boolean[], LiveState])[] = [
  ['nothing happened yet', [], 'connecting'],
  ['the first attempts failed: nothing was lost', [false, false], 'connecting'],
  ['it opened', [false, true], 'live'],
  ['it was there, and went', [true, false], 'reconnecting'],
  ['and fails again', [true, false, false], 'reconnecting'],
  ['and is back', [true, false, true], 'live'],
];
t.test('the stream says that it connects again only where it was connected', async (t) => {
  for (const [name, events, state] of roads) t.equal(events.reduce<LiveState>(stateAfter, 'connecting'), state, name);
});
