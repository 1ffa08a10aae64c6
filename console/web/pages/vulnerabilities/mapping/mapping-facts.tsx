// What a mapping says, read only.
import type { JSX } from 'solid-js';
import type { Reply } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { Foreign, ForeignLines, Pairs } from '../../../kit/basics.js';
import { mappingsText as text } from '../../../texts/vm/sources/mappings.js';
import { fieldNames } from './mapping-form.js';
import { severityLinesOf } from './severity-lines.js';

/** Characters of the words for severities that are shown. */
const linesMax = 10_000;

export function MappingFacts(props: { readonly of: Reply<'GET /api/v1/imports/mappings/{id}'> }): JSX.Element {
  const { of } = props;
  const fields = fieldNames.flatMap((name) => {
    const path = of.fields?.[name];
    return path === undefined ? [] : [[text.ours[name], <Foreign text={path} max={200} />] as const];
  });
  const same = (of.fingerprint_fields ?? []).map((name) => text.ours[name]).join(', ');
  return (
    <>
      <Pairs
        of={[
          [text.name, <Foreign text={of.name} max={100} />],
          [text.format, of.format === null ? '–' : text.formats[of.format]],
          [text.rowsPath, <Foreign text={of.rows_path || '–'} max={200} />],
          [text.changed, showMoment(of.updated_at)],
          [text.sameShort, same || '–'],
          [text.severities, <ForeignLines text={severityLinesOf(of.severity_map) || '–'} max={linesMax} />],
        ]}
      />
      <h3>{text.fields}</h3>
      <Pairs of={fields} />
    </>
  );
}
