// Leaving a page: who asked for another one while something was being saved gets there, and nowhere else.
import { onCleanup } from 'solid-js';
import { useNavigate } from '@solidjs/router';

let departures = 0;

/** A page that was held back by a question is left now. */
export const countDeparture = (): void => void (departures += 1);

/**
 * Leads to another page once something is done that takes a while, such as saving: not when its user has left, or
 * asked to leave, for another page meanwhile, who would be pulled away from it.
 */
export function useDeparture(): (path: string) => void {
  const navigate = useNavigate();
  const before = departures;
  let isHere = true;
  onCleanup(() => (isHere = false));
  return (path) => {
    if (isHere && departures === before) navigate(path);
  };
}
