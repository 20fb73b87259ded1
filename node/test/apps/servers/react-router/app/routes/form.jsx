export async function action ({ request }) { return { name: (await request.formData()).get('name') } }
export default function Form ({ actionData }) { return <p>{actionData?.name ?? 'nobody'}</p> }
