// Where an address is in the navigation: its entry, and the tab within it.
import { allEntries } from './navigation.js';
import { mayOpen, type NavEntry, type PageEntry } from './page-entry.js';

export interface Place {
  readonly entry: NavEntry;
  readonly tab: PageEntry;
}

/** As the router reads it: `:name` is one part of the address. */
const fits = (route: string, path: string): boolean => {
  const [wanted, given] = [route.split('/'), path.split('/')];
  const isSame = (part: string, at: number): boolean =>
    part.startsWith(':') ? (given[at] ?? '') !== '' : part === given[at];
  return wanted.length === given.length && wanted.every(isSame);
};

/** null: an address without a place, such as that of the account. */
export function placeOf(pathname: string): Place | null {
  const path = pathname === '/' ? '/' : pathname.replace(/\/$/, '');
  for (const entry of allEntries)
    for (const tab of entry.tabs)
      if ([tab.path, ...Object.keys(tab.details)].some((route) => fits(route, path))) return { entry, tab };
  return null;
}

export const tabsOf = ({ tabs }: NavEntry): readonly PageEntry[] => tabs.filter(mayOpen);
