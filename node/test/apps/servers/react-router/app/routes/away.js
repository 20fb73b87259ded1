import { redirect } from 'react-router'

export function loader () { return redirect('/', { headers: { 'set-cookie': 'a=1' } }) }
