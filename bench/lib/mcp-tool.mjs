// The tool that is called through all transports: it echoes its argument.
export const tools = [
  {
    name: 'echo',
    description: 'Echoes its argument.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
    effect: 'read', // nobody is asked
    run: ({ text }) => text,
  },
];
