export default function hello (request, response) { response.status(200).json({ method: request.method, query: request.query, body: request.body, cookies: request.cookies }) }
