// Variables of a function while it is followed; the scopes around it are those of the functions that it stands in.
import { empty, joined, type Val } from './value.js';

export class Scope {
  vars = new Map<string, Val>();
  readonly parent: Scope | null;

  constructor(parent: Scope | null) {
    this.parent = parent;
  }

  find(name: string): Val | undefined {
    const own = this.vars.get(name);
    if (own !== undefined) return own;
    for (let at = this.parent; at !== null; at = at.parent) {
      const found = at.vars.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  declare(name: string, value: Val): void {
    this.vars.set(name, value);
  }

  assign(name: string, value: Val): void {
    if (this.vars.has(name)) return void this.vars.set(name, value);
    for (let at = this.parent; at !== null; at = at.parent) {
      const known = at.vars.get(name);
      // when a scope outside is read is not known: both hold
      if (known !== undefined) return void at.vars.set(name, joined(known, value));
    }
    this.vars.set(name, value);
  }
}

export function joinedVars(left: ReadonlyMap<string, Val>, right: ReadonlyMap<string, Val>): Map<string, Val> {
  const all = new Map<string, Val>();
  for (const [name, value] of left) {
    const other = right.get(name);
    all.set(name, other === undefined ? joined(value, empty) : joined(value, other));
  }
  for (const [name, value] of right) if (!left.has(name)) all.set(name, joined(empty, value));
  return all;
}
