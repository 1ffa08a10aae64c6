// An ordered multimap of request data (arguments, headers, cookies, files). Parallel arrays instead of objects: one
// request allocates a handful of arrays, not a hundred little objects.

export class Collection {
  /** Names as sent, one code unit per byte. */
  readonly names: string[] = [];
  readonly values: string[] = [];
  /** Place of a value that was read out of another one (a member of JSON) → the other's name. */
  partOf: Map<number, string> | null = null;
  /** `shownNames` as far as they were asked for; names are only added. */
  private shown: readonly string[] | null = null;

  get size(): number {
    return this.names.length;
  }

  add(name: string, value: string): void {
    this.names.push(name);
    this.values.push(value);
  }

  /** A value that was read out of the one called `whole`: who leaves that out leaves this out as well. */
  addPart(name: string, value: string, whole: string): void {
    (this.partOf ??= new Map()).set(this.names.length, whole);
    this.add(name, value);
  }

  /**
   * Names as rules read them as values (ARGS_NAMES). Of a member that was read out of a value, `filter.data.cvs` is
   * `filter-data-cvs`: the dots are this reader's, and with them two harmless keys are the name of a file.
   */
  get shownNames(): readonly string[] {
    const { names, partOf } = this;
    if (partOf === null) return names;
    if (this.shown?.length === names.length) return this.shown;
    this.shown = names.map((name, index) => {
      const whole = partOf.get(index);
      return whole === undefined ? name : name.slice(0, whole.length) + name.slice(whole.length).replaceAll('.', '-');
    });
    return this.shown;
  }

  clear(): void {
    this.partOf = null;
    this.shown = null;
    this.names.length = 0;
    this.values.length = 0;
  }

  /** First value whose name equals `lowerName` case-insensitively, or null. */
  find(lowerName: string): string | null {
    const { names } = this;
    for (let index = 0; index < names.length; index += 1)
      if (isNamed(names[index] as string, lowerName)) return this.values[index] as string;
    return null;
  }
}

/** Letter by letter: to lower the case of each name asked about costs a string. `lowerName`: lower case, ASCII. */
function isNamed(name: string, lowerName: string): boolean {
  const { length } = lowerName;
  if (name.length !== length) return false;
  for (let index = 0; index < length; index += 1) {
    const code = name.charCodeAt(index);
    const wanted = lowerName.charCodeAt(index);
    if (code !== wanted && (code < 0x41 || code > 0x5a || code + 0x20 !== wanted)) return false;
  }
  return true;
}
