// Members of the fields `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10): both are lists of
// Items of RFC 9651, one for each limit, whose parameters are whole numbers of requests and seconds.

/** A String of RFC 9651 section 3.3.3: printable ASCII in quotes. */
const structuredString = (text: string): string => `"${text.replace(/[^ -~]/g, '?').replace(/["\\]/g, '\\$&')}"`;

/** What may be sent: `events` requests in `windowSeconds`. */
export const policyItem = (name: string, events: number, windowSeconds: number): string =>
  `${structuredString(name)};q=${events};w=${windowSeconds}`;

/** How many may be sent now, and in how many seconds all of them may be again. */
export const stateItem = (name: string, remaining: number, seconds: number): string =>
  `${structuredString(name)};r=${remaining};t=${seconds}`;

/** Both fields of one answer; every limit that tells adds its own member. */
export class LimitFields {
  private policies = '';
  private states = '';

  /** `state` null: it is not known without asking others. */
  add(policy: string, state: string | null): void {
    this.policies = this.policies === '' ? policy : `${this.policies}, ${policy}`;
    if (state !== null) this.states = this.states === '' ? state : `${this.states}, ${state}`;
  }

  /** Flat, behind those of the application. */
  get headers(): readonly string[] {
    const policy = ['RateLimit-Policy', this.policies];
    return this.states === '' ? policy : [...policy, 'RateLimit', this.states];
  }
}
