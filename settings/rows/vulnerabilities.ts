// The vulnerability manager: which chains it makes, and who may describe them.
import { Flag, HttpUrl, Secret, setting, Text } from '../row.js';

export const vulnerabilityRows = {
  vm_toxic_pack: setting(Flag(false), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/index.ts',
    description:
      'toxic combinations by the further rules, too (the pack `further` of GET /api/v1/graph/toxic-rules); the four ' +
      'named ones always hold',
  }),
  vm_model_url: setting(HttpUrl(), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/narrator.ts',
    description:
      'base address of a service that speaks the OpenAI chat protocol, such as https://models.example/v1; it is sent ' +
      'titles and kinds of the findings of a chain when somebody asks for its narrative; empty: nobody is asked',
  }),
  vm_model_name: setting(Text(200), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/narrator.ts',
    description: 'model that the service is asked for',
  }),
  vm_model_key: setting(Secret(), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/vm-host/narrator.ts',
    description: 'key that the service wants (Authorization: Bearer); none where it wants none',
  }),
};
