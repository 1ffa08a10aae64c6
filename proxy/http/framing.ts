// What the check of a request head says of it: how its body is delimited, or why it is not taken.

/** How the request's body is delimited, after the framing check. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' };

/** Why a request head is not taken: answered with `status`, connection closed. */
export interface Refusal {
  readonly status: 400 | 413 | 414 | 431 | 417 | 501 | 505;
  readonly reason: string;
}
