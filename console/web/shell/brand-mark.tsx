// The logo of this installation, or the built-in mark where it has none.
import type { JSX } from 'solid-js';
import { Mark } from '../kit/icons.js';
import { logo } from './brand.js';

export function BrandMark(): JSX.Element {
  return logo === '' ? <Mark /> : <img src={logo} height="24" alt="" />;
}
