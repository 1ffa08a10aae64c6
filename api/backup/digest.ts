// The content of a table as one figure that does not depend on the order of its rows: PostgreSQL and the embedded
// database sort texts differently, and a heap has no order. Sum of the rows' SHA-256 values modulo 2^256; two equal
// rows count twice, unlike with exclusive or.
import { createHash } from 'node:crypto';

const mask = (1n << 256n) - 1n;

export class TableDigest {
  private sum = 0n;
  private count = 0;

  /** `row`: the row as the database writes it as text. */
  add(row: string): void {
    this.sum = (this.sum + BigInt(`0x${createHash('sha256').update(row).digest('hex')}`)) & mask;
    this.count++;
  }

  get rows(): number {
    return this.count;
  }

  /** 64 hexadecimal digits. */
  get sha256Sum(): string {
    return this.sum.toString(16).padStart(64, '0');
  }
}
