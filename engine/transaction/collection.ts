// An ordered multimap of request data (arguments, headers, cookies, files). Parallel arrays instead of objects: one
// request allocates a handful of arrays, not a hundred little objects.

export class Collection {
  /** Names as sent, one code unit per byte. */
  readonly names: string[] = [];
  readonly values: string[] = [];

  get size(): number {
    return this.names.length;
  }

  add(name: string, value: string): void {
    this.names.push(name);
    this.values.push(value);
  }

  clear(): void {
    this.names.length = 0;
    this.values.length = 0;
  }

  /** First value whose name equals `lowerName` case-insensitively, or null. */
  find(lowerName: string): string | null {
    const { names } = this;
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      if (name.length === lowerName.length && (name === lowerName || name.toLowerCase() === lowerName))
        return this.values[index] as string;
    }
    return null;
  }
}
