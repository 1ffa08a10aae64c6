// Short values repeat from request to request (methods, content types, header names): a small memory in front of an
// automaton answers them for the price of a look-up. Bounded, dropped whole when full; answers are pure functions of
// the value, so nothing can go stale.
import { SeenOnce } from '../../parse/seen-once.js';

const entriesMax = 256;
const valueBytesMax = 96;

export function remembered<Answer>(compute: (value: string) => Answer): (value: string) => Answer {
  let known = new Map<string, Answer>();
  const once = new SeenOnce();
  return (value) => {
    if (value.length > valueBytesMax) return compute(value);
    const before = known.get(value);
    if (before !== undefined) return before;
    const answer = compute(value);
    if (!once.wasSeen(value)) return answer;
    if (known.size >= entriesMax) known = new Map();
    known.set(value, answer);
    return answer;
  };
}
