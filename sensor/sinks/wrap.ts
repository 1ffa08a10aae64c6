// How functions of others are put behind a look: what they return, throw and are called stays as it was.
import { currentVisit, type Visit } from '../requests/visit.js';
import { guarded, sensorState } from '../state.js';

export type Any = (...given: never[]) => unknown;
export type Look = (visit: Visit, given: readonly unknown[], self: unknown) => void;

const watched = Symbol.for('gatehouse.sensor.watched');

/** A function that looks at its arguments first, where it is called for a request. */
export function looking(original: Any, look: Look): Any {
  const wrapped = function (this: unknown, ...given: unknown[]): unknown {
    const visit = sensorState.isOn ? currentVisit() : undefined;
    if (visit !== undefined) guarded(() => look(visit, given, this));
    return new.target === undefined
      ? Reflect.apply(original, this, given)
      : Reflect.construct(original, given, new.target === wrapped ? original : new.target);
  };
  // name, length, and what is kept on it, such as `util.promisify.custom` and the prototype of a class
  for (const key of Reflect.ownKeys(original)) {
    const member = Object.getOwnPropertyDescriptor(original, key);
    const held = Object.getOwnPropertyDescriptor(wrapped, key);
    if (member !== undefined && held?.configurable !== false) Object.defineProperty(wrapped, key, member);
    else if (key === 'prototype') wrapped.prototype = original.prototype;
  }
  Object.setPrototypeOf(wrapped, Object.getPrototypeOf(original) as object | null);
  Object.defineProperty(wrapped, watched, { value: true });
  return wrapped;
}

/** Puts a look before a member of an object or prototype, once; does nothing where it is none or cannot be replaced. */
export function watchMember(owner: unknown, name: string, look: Look): void {
  if ((typeof owner !== 'object' && typeof owner !== 'function') || owner === null) return;
  const held = Object.getOwnPropertyDescriptor(owner, name);
  const original: unknown = held?.value;
  if (typeof original !== 'function' || watched in original || held?.configurable === false) return;
  Object.defineProperty(owner, name, { ...held, value: looking(original as Any, look) });
}
