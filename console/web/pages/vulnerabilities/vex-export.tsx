// VEX: statements about the findings of an application, as a file for those who use it.
import { createSignal, Show, type JSX } from 'solid-js';
import { linkTo } from '../../client/http.js';
import { Button, Card } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { postureText as text } from '../../texts/vm/posture.js';
import type { Applications } from './words.js';

type Format = keyof typeof text.vexFormats;
const formats = Object.entries(text.vexFormats) as (readonly [Format, string])[];

export function VexExport(props: { readonly applications: Applications }): JSX.Element {
  const [application, setApplication] = createSignal('');
  const [format, setFormat] = createSignal<Format>('openvex');
  return (
    <Card title={text.vex}>
      <div class="stack">
        <p class="muted">{text.vexAbout}</p>
        <div class="narrow-grid">
          <SelectField
            label={text.application}
            value={application()}
            options={props.applications.options(text.choose)}
            onChange={setApplication}
          />
          <SelectField label={text.format} value={format()} options={formats} onChange={setFormat} />
        </div>
        <div>
          <Show when={application() !== ''} fallback={<Button disabled>{text.download}</Button>}>
            <a
              class="button"
              href={linkTo('GET /api/v1/vex/export', { application_id: application(), format: format() })}
              download={`vex-${application()}.${format()}.json`}
            >
              {text.download}
            </a>
          </Show>
        </div>
      </div>
    </Card>
  );
}
