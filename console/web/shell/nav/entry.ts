// What the table of pages is made of, and how a row of it is written.
import { lazy, type Component } from 'solid-js';
import type { IconName } from '../../kit/icons.js';
import type { Role } from '../../client/session.js';
import type { VmPermission } from '../../client/vm-access.js';

export type Load = () => Promise<Component>;

export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly role: Role;
  /** Users with this permission of the vulnerability manager may open it, too, whatever their role. */
  readonly permission?: VmPermission;
  /** Users without this permission are refused all that it shows: grants may take away what a role has. */
  readonly needs?: VmPermission;
  /** Other words to find it by. */
  readonly words: string;
  readonly view: Component;
  /** Routes of single things that belong to it, such as one rule. */
  readonly details: Readonly<Record<string, Component>>;
}

export interface NavEntry {
  readonly title: string;
  readonly icon: IconName;
  readonly tabs: readonly PageEntry[];
}

export interface NavGroup {
  readonly key: string;
  readonly title: string;
  readonly entries: readonly NavEntry[];
}

/** A page of its own file, loaded when it is first opened. */
export const part = (load: Load): Component => lazy(async () => ({ default: await load() }));

type More = Partial<Pick<PageEntry, 'role' | 'permission' | 'needs' | 'details'>>;

export const page = (path: string, title: string, words: string, load: Load, more: More = {}): PageEntry => ({
  ...{ path, title, words, view: part(load), role: 'viewer', details: {} },
  ...more,
});

export const entry = (title: string, icon: IconName, tabs: readonly PageEntry[]): NavEntry => ({ title, icon, tabs });
