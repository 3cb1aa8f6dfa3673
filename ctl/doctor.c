#include "ctl/doctor.h"

#include "ctl/doctor_alerts.h"
#include "ctl/doctor_broker.h"
#include "ctl/doctor_mysql.h"
#include "ctl/doctor_services.h"
#include "ctl/finding.h"
#include "ctl/session.h"

int doctor_run(const struct session *session)
{
	struct finding_list *list = finding_list_create();
	int status;

	doctor_check_mysql(session, list);
	doctor_check_broker(session, list);
	doctor_check_services(session, list);
	doctor_check_alert_targets(session, list);
	doctor_check_fleet(session, list);
	finding_list_print(list, &session->output);
	status = finding_list_has_failed(list) ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
	finding_list_destroy(&list);
	return status;
}
