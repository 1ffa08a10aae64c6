// Addresses that receive something often are their own key (`…/services/T0/B0/secret`, `?token=…`): who may not change
// them sees where something goes, and not how to send there.
import type { Caller } from '../caller.js';
import { isUnconfined } from '../caller.js';
import type { VmPermission } from '../permissions.js';

/** `https://hook.example.org/…`: scheme and host alone; unchanged where it has nothing else. No address: `…`. */
export function maskedAddress(url: string): string {
  if (!URL.canParse(url)) return '…';
  const { protocol, host, pathname, search, username } = new URL(url);
  return `${protocol}//${host}${pathname === '/' && search === '' && username === '' ? '/' : '/…'}`;
}

/** Whether somebody may change what belongs to the whole organisation, and so sees all of it. */
export function mayWrite(caller: Pick<Caller, 'reach'>, permission: VmPermission): boolean {
  const reach = caller.reach(permission, true);
  return reach !== null && isUnconfined(reach);
}

/** Values whose `url` is such an address. */
export const withMaskedUrl = (given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  typeof given['url'] === 'string' ? { ...given, url: maskedAddress(given['url']) } : given;
