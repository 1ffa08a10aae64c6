// Pages that a user has pinned to the top of the side bar, in the order in which they were pinned.
import { allPages } from './navigation.js';
import { mayOpen, type PageEntry } from './page-entry.js';
import { storedList, storeList } from './stored-list.js';

export const favouritesMax = 8;
const name = 'favourites';

const paths = (): readonly string[] => storedList(name, favouritesMax);

/** Those that the user may open; the others stay pinned. */
export const favourites = (): readonly PageEntry[] =>
  paths().flatMap((path) => allPages.filter((page) => page.path === path && mayOpen(page)));

export const isFavourite = (path: string): boolean => paths().includes(path);

/** False: there are `favouritesMax` already. */
export function toggleFavourite(path: string): boolean {
  // addresses that no page has any more take no room
  const valid = paths().filter((one) => allPages.some((page) => page.path === one));
  if (valid.includes(path)) {
    storeList(
      name,
      valid.filter((one) => one !== path),
    );
    return true;
  }
  if (valid.length >= favouritesMax) return false;
  storeList(name, [...valid, path]);
  return true;
}
