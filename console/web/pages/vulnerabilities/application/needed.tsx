// Where something belongs to an application and there is none: the way to make one.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { Notice } from '../../../kit/basics.js';
import type { Applications } from '../words.js';

export function NeedsApplication(props: { readonly applications: Applications; readonly text: string }): JSX.Element {
  return (
    <Show when={props.applications.isKnown() && props.applications.rows().length === 0}>
      <Notice tone="info">
        <A href="/vulnerabilities/applications?add=1">{props.text}</A>
      </Notice>
    </Show>
  );
}
