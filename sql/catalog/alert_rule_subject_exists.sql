-- What an alert rule is about, where it exists. $project; $scope: keyword, group or page_group; $id.
select id from keywords where $scope = 'keyword' and project_id = $project and id = $id
union all
select id from groups where $scope = 'group' and project_id = $project and id = $id
union all
select id from page_groups where $scope = 'page_group' and project_id = $project and id = $id
