// A block of which more may be said elsewhere than is written: what is missing in it is unknown, and not missing.
import type { Attribute } from './tree.js';
import { Unknown } from './values.js';

export class OpenAttributes extends Map<string, Attribute> {
  readonly #line: number;

  constructor(own: ReadonlyMap<string, Attribute>, line: number) {
    super(own);
    this.#line = line;
  }

  override get(name: string): Attribute {
    return super.get(name) ?? { value: { kind: 'value', value: new Unknown(null) }, line: this.#line };
  }

  override has(): boolean {
    return true;
  }
}
