// A dialog that the address asks for, so that a link or a command can open it.
import { useSearchParams } from '@solidjs/router';
import type { Accessor } from 'solid-js';

/** Open while the address has `?name=1`. */
export function createAsked(name: string): readonly [Accessor<boolean>, (isOpen: boolean) => void] {
  const [search, setSearch] = useSearchParams();
  return [() => search[name] === '1', (isOpen) => setSearch({ [name]: isOpen ? '1' : '' })];
}
