export const actions = { default: async ({ request }) => ({ name: (await request.formData()).get('name') }) }
