// Variables of the parsed request body, and of what went wrong with it.
import { filesCombinedSize, multipartFlagNames } from '../body/index.js';
import { cached, flag, scalar, values, type Variable } from './variable.js';

export const bodyVariables: readonly Variable[] = [
  scalar('REQBODY_PROCESSOR', 1, (t) => t.requestBodyProcessor),
  scalar('REQBODY_ERROR', 2, (t) => flag(t.reqbodyError)),
  scalar('REQBODY_ERROR_MSG', 2, (t) => t.reqbodyErrorMsg),
  scalar('REQBODY_PROCESSOR_ERROR', 2, (t) => flag(t.reqbodyError)),
  scalar('REQBODY_PROCESSOR_ERROR_MSG', 2, (t) => t.reqbodyErrorMsg),
  scalar('INBOUND_DATA_ERROR', 2, (t) => flag(t.inboundDataError)),
  scalar('URLENCODED_ERROR', 1, (t) => flag(t.urlencodedError)),
  values('FILES', 2, (t) => t.body.files),
  values('FILES_NAMES', 2, (t) => t.body.filesNames),
  values('FILES_SIZES', 2, (t) => t.body.filesSizes),
  values('FILES_TMPNAMES', 2, (t) => t.body.filesTmpNames),
  values('FILES_TMP_CONTENT', 2, (t) => t.body.filesTmpContent),
  cached('FILES_COMBINED_SIZE', 2, (t) => String(filesCombinedSize(t.body))),
  values('MULTIPART_FILENAME', 2, (t) => t.body.multipartFilename),
  values('MULTIPART_NAME', 2, (t) => t.body.multipartName),
  values('MULTIPART_PART_HEADERS', 2, (t) => t.body.multipartPartHeaders),
  // written by the multipart processor; '0' until then
  ...multipartFlagNames.map((name) => scalar(name, 2, (t) => t.body.multipartFlags.get(name) ?? '0')),
  { kind: 'xml', name: 'XML', phase: 2 },
  // Not in ModSecurity: '' unless the document refers to what lies outside of it.
  scalar('XML_EXTERNAL', 2, (t) => t.body.xmlExternal[0] ?? ''),
];
