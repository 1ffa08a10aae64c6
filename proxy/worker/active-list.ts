// What is under way at the moment: requests come and go thousands of times a second. A Set does not bear that well: V8
// makes a new table every few dozen changes, and the old one keeps a link to its successor and its own last members.
// Once such a table has grown old, every later one, and every request that was in it, is kept alive through the links
// until the next full collection: a kilobyte or two of each request was copied to the old generation for nothing. An
// array with the place remembered by the member changes nothing but two slots.

/** Belongs to at most one list at a time. */
export interface ActiveMember {
  /** Place in the list, kept by the list; -1 = not in it. */
  place: number;
}

export class ActiveList<T extends ActiveMember> {
  private readonly members: T[] = [];

  get size(): number {
    return this.members.length;
  }

  add(member: T): void {
    if (member.place !== -1) return;
    member.place = this.members.length;
    this.members.push(member);
  }

  /** Nothing happens when it is not there. */
  delete(member: T): void {
    const { place } = member;
    if (place === -1) return;
    member.place = -1;
    const last = this.members.pop() as T;
    if (last === member) return;
    this.members[place] = last;
    last.place = place;
  }

  /** A copy, in no particular order: members may leave while it is walked. */
  all(): T[] {
    return [...this.members];
  }
}
